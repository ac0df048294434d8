import type { App } from '#shared/catalogue/apps/index.ts'
import { atLeast, type Belonging, suspended, type Workspace } from '#shared/identity/people/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import type { Block } from './blocks.ts'

/**
 * Returns the reason that a person may not install an app into a workspace; undefined when they may. Installing requires
 * an admin (contract/oauth-and-tokens.md#consent). A customer's workspace requires an approved app; others can be tried
 * in sandbox workspaces. A delisted app was approved before, so existing installations keep working and can be consented
 * to again. Nobody installs an app of a blocked developer, not even into a sandbox.
 * @param installed true if the app is installed there now, even if suspended
 */
export const blockedBy = (app: App, { workspace, member }: Belonging, installed: boolean): Block | undefined => {
  if (workspace.status !== 'active') return 'installation_suspended'
  if (!atLeast(member.role, 'admin')) return 'admin_required'
  const open = app.status === 'approved' || (app.status === 'delisted' && installed)
  if (app.developer_blocked || (!workspace.is_sandbox && !open)) return 'app_not_approved'
  return undefined
}

/**
 * Refuses what {@link blockedBy} reports, before anything is planned. Treats a delisted app as installed, because only the
 * transaction knows ({@link refuseDelisted}).
 */
export const refuseBlocked = (app: App, belonging: Belonging): void => {
  const block = blockedBy(app, belonging, true)
  if (block) {
    throw block === 'app_not_approved' && app.developer_blocked
      ? developerBlocked()
      : refusal(block, belonging.workspace)
  }
}

/** Error for an app whose developer is blocked. */
export const developerBlocked = (): PlatformError =>
  fail('app_not_approved', {
    message: 'The platform has stopped new installations of this developer’s apps.',
    fix: 'Choose another app, or contact platform support.',
  })

/** Refuses a delisted app where it isn't installed, except in sandbox workspaces. */
export const refuseDelisted = (app: App, { is_sandbox }: Pick<Workspace, 'is_sandbox'>): void => {
  if (is_sandbox || app.status !== 'delisted') return
  throw fail('app_not_approved', {
    message: 'The app was removed from the marketplace, so it can’t be installed in new workspaces.',
    fix: 'Choose a workspace that has the app or a sandbox workspace, or ask the app’s developer.',
  })
}

const refusal = (block: Block, workspace: Workspace): PlatformError => {
  switch (block) {
    case 'admin_required':
      return fail(block, {
        message: 'Installing an app requires the role admin in the workspace.',
        fix: 'Ask an admin or the owner of the workspace to install the app.',
      })
    case 'installation_suspended':
      return suspended(workspace)
    case 'app_not_approved':
      return fail(block, {
        message: 'The platform has not approved the app yet.',
        fix: 'Choose a sandbox workspace, or wait until the app is approved.',
      })
  }
}

/** Refuses scopes that an admin of the workspace blocked. If granted, they would take effect once the block is lifted. */
export const refuseBlockedScopes = ({ workspace }: Belonging, scopes: readonly string[]): void => {
  const banned = scopes.find((scope) => workspace.denied_scopes.includes(scope))
  if (banned === undefined) return
  throw fail('scope_denied_by_admin', {
    message: `An admin of the workspace has blocked the scope ${banned}.`,
    fix: 'Grant only the other scopes, or ask an admin of the workspace to unblock this one.',
    details: { required_scope: banned, granted_scopes: scopes.filter((scope) => scope !== banned) },
  })
}
