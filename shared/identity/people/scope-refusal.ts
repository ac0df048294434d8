import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { covers, type Scope } from '#shared/kernel/scopes.ts'
import type { Workspace } from './entity.ts'

/** An installation or one of its tokens: the scopes that it holds, and the workspace whose admins may deny some. */
export interface ScopeHolder {
  scopes: readonly string[]
  workspace: Pick<Workspace, 'denied_scopes'>
}

/**
 * Returns the error for an action whose scope the installation lacks or an admin of the workspace denied, checked in this
 * order (contract/tools.md#permission-hierarchy). Returns undefined if the scope is available.
 * @param what the action, as the subject of a sentence
 */
export const scopeRefusal = (
  scope: Scope,
  { scopes, workspace }: ScopeHolder,
  what: string,
): PlatformError | undefined => {
  const details = { required_scope: scope, granted_scopes: scopes }
  if (!covers(scopes, scope)) {
    return fail('insufficient_scope', { message: `${what} requires the scope ${scope}.`, details })
  }
  if (!workspace.denied_scopes.includes(scope)) return undefined
  return fail('scope_denied_by_admin', { message: `An admin of the workspace denied the scope ${scope}.`, details })
}
