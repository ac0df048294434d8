import { fail } from '#shared/kernel/errors.ts'
import { covers, isScope, type Scope } from '#shared/kernel/scopes.ts'

/**
 * Returns the scopes that a refresh asks for (RFC 6749 §6), or undefined if it asks for none and so for all that were granted.
 * @throws `invalid_scope` for a scope that wasn't granted
 */
export const narrowedScopes = (text: string | undefined, granted: readonly string[]): Scope[] | undefined => {
  const named = (text ?? '').split(' ').filter(Boolean)
  const outside = named.find((scope) => !isScope(scope) || !covers(granted, scope))
  if (outside !== undefined) {
    throw fail('invalid_scope', {
      message: `The scope ${JSON.stringify(outside.slice(0, 60))} wasn’t granted.`,
      fix: 'Name granted scopes, or none. To get more, start a new consent request.',
      details: { received: outside.slice(0, 200) },
    })
  }
  return named.length > 0 ? (named as Scope[]) : undefined
}
