import type { App } from '../../entities/apps.ts'
import { type Grant, GrantEntity, type Installation, InstallationEntity } from '../../entities/installations.ts'
import { WorkspaceEntity } from '../../entities/people.ts'
import { type ErrorInfo, fail, type PlatformError } from '../../kernel/errors.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'

interface Named {
  workspace_id: string
  installation_id: string
  grant_id: string
}

/** A code or refresh token that gets nothing, whatever the reason; the words say which as far as it is no secret. */
export const invalidGrant = (message: string, info: Pick<ErrorInfo, 'fix' | 'details'> = {}): PlatformError =>
  fail('invalid_grant', { ...info, message })

/** @throws `app_suspended` */
export const refuseSuspended = (app: App): void => {
  if (app.status === 'suspended') throw fail('app_suspended')
}

/**
 * The grant behind a code or refresh token and its installation, in one read.
 * @throws `invalid_grant` when either ended; `installation_suspended` while it, or its workspace, is suspended
 */
export const liveGrant = async (
  { table }: Pick<Deps, 'table'>,
  { workspace_id, installation_id, grant_id }: Named,
): Promise<{ grant: Grant; installation: Installation }> => {
  const [grant, installation, workspace] = await table.getAll([
    { entity: GrantEntity, key: GrantEntity.key({ installation_id, id: grant_id }) },
    { entity: InstallationEntity, key: InstallationEntity.key({ workspace_id, id: installation_id }) },
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspace_id }) },
  ])
  if (grant?.status !== 'active' || !installation || installation.status === 'revoked' || !workspace) throw revoked()
  if (installation.status === 'suspended' || workspace.status !== 'active') throw fail('installation_suspended')
  return { grant, installation }
}

const revoked = (): PlatformError =>
  invalidGrant('The customer’s consent was revoked, or the app uninstalled.', {
    fix: 'Ask the customer to connect the app again, through GET /oauth/authorize.',
  })

/** Marks a grant as used, under the condition that it is still live: part of every transaction that makes tokens from it. */
export const useGrant = (grant: Grant, now: number): Write =>
  GrantEntity.update(grant, { set: { last_used_at: now } }, { where: { status: 'active' }, otherwise: revoked })
