import type { Workspace } from '../entities/people.ts'
import { fail, type PlatformError } from '../kernel/errors.ts'
import { covers, type Scope } from '../kernel/scopes.ts'

/**
 * Why something may not be done that needs a scope: the installation lacks it, or an admin of the organization forbade it,
 * in this order (specification "Permission hierarchy"). Undefined when it may.
 * @param what needs it, as the subject of a sentence
 */
export const scopeRefusal = (
  scope: Scope,
  { scopes, workspace }: { scopes: readonly string[]; workspace: Pick<Workspace, 'denied_scopes'> },
  what: string,
): PlatformError | undefined => {
  const details = { required_scope: scope, granted_scopes: scopes }
  if (!covers(scopes, scope)) {
    return fail('insufficient_scope', { message: `${what} needs the scope ${scope}.`, details })
  }
  if (!workspace.denied_scopes.includes(scope)) return undefined
  return fail('scope_denied_by_admin', { message: `An admin of the organization forbade ${scope}.`, details })
}
