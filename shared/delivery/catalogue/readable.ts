import { mayUse } from '#shared/access/installations/index.ts'
import { matchesMask } from '#shared/foundation/outbox/index.ts'
import type { ScopeHolder } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { definitionOf, EVENTS } from './catalogue.ts'

/**
 * Returns the scope that reads events of a type (contract/events-and-webhooks.md#event-types). Null: none is needed.
 * Undefined: no client reads them.
 */
export const scopeOf = (type: string): Scope | null | undefined => {
  const definition = definitionOf(type)
  return definition === undefined || definition.audience === 'internal' ? undefined : definition.scope
}

/**
 * Returns true if the reader may read events of this type now: it holds the type's scope, and no admin of the workspace
 * denied it. The fan-out, the feed and every delivery ask this, so that a withdrawn scope and a ban apply to events that
 * were emitted before them, too (contract/events-and-webhooks.md#who-sees-an-event).
 */
export const canReadEvent = (type: string, reader: ScopeHolder): boolean => {
  const scope = scopeOf(type)
  return scope !== undefined && (scope === null || mayUse(reader, reader.workspace, scope))
}

/**
 * Refuses masks and types that the reader may not read. `*` means all types that it may read, so it is never refused.
 * @throws `insufficient_scope` naming the types
 */
export const requireReadable = (asked: readonly string[], reader: ScopeHolder): void => {
  const named = asked.filter((mask) => mask !== '*')
  const types = Object.keys(EVENTS).filter((type) => matchesMask(named, type) && lacking(type, reader) !== undefined)
  const required = [...new Set(types.flatMap((type) => lacking(type, reader) ?? []))]
  const [required_scope] = required
  if (required_scope === undefined) return
  throw fail('insufficient_scope', {
    message: `You can’t read events of the types ${types.join(', ')}: they require ${required.join(', ')}.`,
    fix: `Leave out these types, or get ${required.join(', ')} granted: request them and ask the customer to approve them, and ask an admin of the workspace to lift a ban. * stands for all types that you may read.`,
    details: { required_scope, required_scopes: required, granted_scopes: reader.scopes, types },
  })
}

/** Returns the scope that the reader lacks for events of a type; undefined for types that it may read or that no client reads. */
const lacking = (type: string, reader: ScopeHolder): Scope | undefined =>
  canReadEvent(type, reader) ? undefined : (scopeOf(type) ?? undefined)
