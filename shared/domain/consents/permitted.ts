import type { App } from '../../entities/apps.ts'
import { atLeast, type Workspace } from '../../entities/people.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import type { Belonging } from '../people/memberships.ts'
import type { Block } from './schemas.ts'

/**
 * Why a person may not install an app into a workspace; undefined when they may. Installing takes an admin (decisions
 * §3), and a customer's workspace takes an approved app: until then an app can be tried in sandbox workspaces (§2). A
 * delisted one was approved: where it is installed, it goes on, and can be consented to anew.
 * @param installed is it installed there now, also suspended?
 */
export const blockedBy = (app: App, { workspace, member }: Belonging, installed: boolean): Block | undefined => {
  if (workspace.status !== 'active') return 'installation_suspended'
  if (!atLeast(member.role, 'admin')) return 'admin_required'
  const open = app.status === 'approved' || (app.status === 'delisted' && installed)
  if (!workspace.is_sandbox && !open) return 'app_not_approved'
  return undefined
}

/**
 * {@link blockedBy} as a refusal, before anything is planned. A delisted app passes as if it were installed: whether it is, only
 * the transaction can say ({@link refuseDelisted}).
 */
export const refuseBlocked = (app: App, belonging: Belonging): void => {
  const block = blockedBy(app, belonging, true)
  if (block) throw refusal(block)
}

/** Refuses a delisted app where it is not installed, sandbox workspaces aside. */
export const refuseDelisted = (app: App, { is_sandbox }: Pick<Workspace, 'is_sandbox'>): void => {
  if (is_sandbox || app.status !== 'delisted') return
  throw fail('app_not_approved', {
    message: 'The platform took the app out of the marketplace: only where it is installed may it go on.',
    fix: 'Choose a workspace that has the app, or a sandbox workspace, or ask the app’s developer.',
  })
}

const refusal = (block: Block): PlatformError => {
  switch (block) {
    case 'admin_required':
      return fail(block, {
        message: 'This needs the role admin in the workspace.',
        fix: 'Ask somebody with the role admin or owner to install the app.',
      })
    case 'installation_suspended':
      return fail(block, { message: 'The workspace is suspended, or is to be deleted.' })
    case 'app_not_approved':
      return fail(block, {
        message: 'The platform has not approved the app yet.',
        fix: 'Choose a sandbox workspace, or wait until the app is approved.',
      })
  }
}

/** Refuses scopes that an admin of the workspace forbade: granting them would bring them to life once the ban ends. */
export const refuseBanned = ({ workspace }: Belonging, scopes: readonly string[]): void => {
  const banned = scopes.find((scope) => workspace.denied_scopes.includes(scope))
  if (banned === undefined) return
  throw fail('scope_denied_by_admin', {
    message: `An admin of the organization forbade ${banned}.`,
    fix: 'Grant the other scopes only, or ask an admin of the workspace to lift the ban.',
    details: { required_scope: banned, granted_scopes: scopes.filter((scope) => scope !== banned) },
  })
}
