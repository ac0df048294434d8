import { mayUse, withInstallation } from '#shared/access/installations/index.ts'
import { prepareSandboxInstall, type TriggerInput } from '#shared/agents/sandbox/index.ts'
import { type EventEnvelope, envelopeOf, newEvent, OutboxEntity } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { ScopeHolder } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { nearest } from '#shared/kernel/nearest.ts'
import { definitionOf, type EventType, isMask } from '../catalogue/catalogue.ts'
import { scopeOf } from '../catalogue/readable.ts'
import { SAMPLED_TYPES, sampleData } from './samples.ts'

/**
 * Emits a sample event for an app's sandbox installation, which is created if needed. Its feed and webhooks get the
 * sample like a real event, and no other installation does. The event carries `test`, and the platform itself does not
 * react to it.
 * @throws `not_found`, `no_manifest`, `app_suspended`, `installation_suspended`; `insufficient_scope` for a type that
 * the app can't read; `validation_error` for a type or data that the catalogue does not know
 */
export const triggerEvent = async (
  work: Work,
  developerId: string,
  { app_id, type, data: given }: TriggerInput,
): Promise<EventEnvelope> => {
  if (!isSampled(type)) throw unknownType(type)
  const id = work.id('event')
  const install = await prepareSandboxInstall(work, developerId, app_id, 'attached')
  return withInstallation(work, install, async ({ installation, writes }) => {
    requireReadable(type, { scopes: installation.scopes, workspace: install.workspace })
    const about = { app_id, installation_id: installation.id, scopes: installation.scopes, now: work.clock.now() }
    const data = checked(type, { ...sampleData(type, about), ...given })
    const { workspace_id, id: installation_id } = installation
    const event = newEvent(work.clock, { type, workspace_id, installation_id, app_id, data, test: true }, id)
    const view = envelopeOf(event)
    await work.commit([...writes, OutboxEntity.create(event)], view)
    return view
  })
}

/** Returns true for a single type, not a mask, that receivers get. */
const isSampled = (type: string): type is EventType =>
  isMask(type) && !type.endsWith('*') && definitionOf(type)?.audience !== 'internal'

/** Refuses a type that no receiver of this app would get. Without the refusal, the sample would silently go nowhere. */
const requireReadable = (type: string, holder: ScopeHolder): void => {
  const scope = scopeOf(type)
  if (!scope || mayUse(holder, holder.workspace, scope)) return
  throw fail('insufficient_scope', {
    message: `The app’s sandbox installation can’t read events of the type ${type}: they require the scope ${scope}.`,
    fix: `Add ${scope} to the app’s requested_scopes (PATCH /api/v1/dev/apps/{id}) and make sure that the sandbox workspace doesn’t deny it.`,
    details: { required_scope: scope, granted_scopes: holder.scopes, types: [type] },
  })
}

const unknownType = (type: string) => {
  const meant = nearest(type, SAMPLED_TYPES)
  const wrong = `unknown event type${meant === undefined ? '' : `; did you mean ${meant}?`}`
  return fail('validation_error', {
    message: `Webhooks and feeds never deliver events of the type ${type}.`,
    fix: `Send one of: ${SAMPLED_TYPES.join(', ')}.`,
    details: { fields: { type: [wrong] } },
  })
}

const checked = (type: string, data: Record<string, unknown>): Record<string, unknown> => {
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > LIMITS.eventDataBytes) {
    throw fail('payload_too_large', { message: `The data has ${bytes} bytes. The limit is ${LIMITS.eventDataBytes}.` })
  }
  const result = definitionOf(type)?.data().safeParse(data)
  if (!result || result.success) return data
  const fields: Record<string, string[]> = {}
  for (const { path, message } of result.error.issues) {
    const name = ['data', ...path].join('.')
    fields[name] = [...(fields[name] ?? []), message]
  }
  throw fail('validation_error', {
    message: `The data does not fit events of the type ${type}.`,
    details: { fields },
  })
}
