import type { App } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { suspended, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { type ErrorInfo, fail, type PlatformError } from '#shared/kernel/errors.ts'
import type { Write } from '#shared/table/entity.ts'
import { type Installation, InstallationEntity } from '../installations/entity.ts'
import { type Grant, GrantEntity } from './entity.ts'
import { sandboxRights } from './given-by.ts'

interface Named {
  workspace_id: string
  installation_id: string
  grant_id: string
}

/** Error for a code or refresh token that is refused for any reason. The message gives as much of it as isn't secret. */
export const invalidGrant = (message: string, info: Pick<ErrorInfo, 'fix' | 'details'> = {}): PlatformError =>
  fail('invalid_grant', { ...info, message })

/** @throws `app_suspended` */
export const refuseSuspended = (app: App): void => {
  if (app.status === 'suspended') throw fail('app_suspended')
}

/**
 * Loads the grant behind a code or refresh token, and its installation, in one read.
 * @throws `invalid_grant` when either has ended; `installation_suspended` while it or its workspace is suspended, or an
 *   admin has paused the grant
 */
export const loadLiveGrant = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { workspace_id, installation_id, grant_id }: Named,
): Promise<{ grant: Grant; installation: Installation }> => {
  const [grant, installation, workspace] = await table.getAll([
    GrantEntity.ref({ installation_id, id: grant_id }),
    InstallationEntity.ref({ workspace_id, id: installation_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
  ])
  if (grant?.status !== 'active' || !installation || installation.status === 'revoked' || !workspace) throw revoked()
  if ((await sandboxRights({ table, clock }, grant)) === 'ended') throw revoked()
  if (installation.status === 'suspended' || workspace.status !== 'active') throw suspended(workspace)
  if (grant.paused_at !== undefined) throw pausedGrant()
  return { grant, installation }
}

/** Error for a token of a grant that an admin has paused. */
export const pausedGrant = (): PlatformError =>
  fail('installation_suspended', {
    message: 'An admin of the workspace paused the app’s access.',
    fix: 'Ask an admin of the workspace to resume it under “Connected apps” in the console.',
  })

const revoked = (): PlatformError =>
  invalidGrant('The customer revoked their consent or uninstalled the app.', {
    fix: 'Ask the customer to connect the app again through GET /oauth/authorize.',
    details: { reason: 'revoked' },
  })

/** Marks a grant as used, if it is still live. Part of every transaction that issues tokens from it. */
export const useGrant = (grant: Grant, now: number): Write =>
  GrantEntity.update(grant, { set: { last_used_at: now } }, { where: { status: 'active' }, otherwise: revoked })
