import type { PersonPrincipal } from '#shared/access/hosts/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { covers, type Scope } from '#shared/kernel/scopes.ts'
import { PERSON_TOOLS, type PersonTool, type PersonToolName } from './catalogue.ts'

/** Reports whether the workspace denies a scope, or the reading that it implies. */
export const isDenied = ({ workspace }: Pick<PersonPrincipal, 'workspace'>, scope: Scope): boolean =>
  workspace.denied_scopes.includes(scope) || workspace.denied_scopes.includes(scope.replace(':write', ':read'))

/**
 * Returns why a person's host may not do something now. A scope that the workspace denies comes first: no new consent would
 * bring it.
 * @param what the action, as the subject of a sentence
 */
export const personRefusal = (
  principal: Pick<PersonPrincipal, 'workspace' | 'scopes'>,
  scope: Scope,
  what: string,
): PlatformError | undefined => {
  const details = { required_scope: scope, granted_scopes: principal.scopes }
  if (isDenied(principal, scope)) {
    return fail('scope_denied_by_admin', { message: `An admin of the workspace denied the scope ${scope}.`, details })
  }
  if (covers(principal.scopes, scope)) return undefined
  return fail('insufficient_scope', {
    message: `${what} requires the scope ${scope}.`,
    fix: 'Ask the person to connect the assistant again with this scope.',
    details,
  })
}

/** Returns why a person's host may not make this call of a tool. */
export const personToolRefusal = (
  principal: Pick<PersonPrincipal, 'workspace' | 'scopes'>,
  name: PersonToolName,
  args: Record<string, unknown>,
): PlatformError | undefined => {
  const { scope, furtherScope }: PersonTool = PERSON_TOOLS[name]
  const further = furtherScope?.(args)
  return (
    personRefusal(principal, scope, `The tool ${name}`) ??
    (further && personRefusal(principal, further, `The tool ${name} with these arguments`))
  )
}
