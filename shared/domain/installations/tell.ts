import type { Installation } from '../../entities/installations.ts'
import { tell } from '../../events/outbox.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'

/** The event of an installation's change (decisions §6). `installation` is as it is afterwards. */
export const tellInstallation = (
  { clock }: Pick<Deps, 'clock'>,
  type: 'installation.created' | 'installation.updated' | 'installation.removed',
  {
    id,
    workspace_id,
    app_id,
    status,
    scopes,
  }: Pick<Installation, 'id' | 'workspace_id' | 'app_id' | 'status' | 'scopes'>,
): Write => tell(clock, { type, workspace_id, app_id, data: { installation_id: id, app_id, status, scopes } })
