import { OutboxEntity } from '../../entities/events.ts'
import { definitionOf, type EventEnvelope, type EventType, isMask } from '../../events/catalogue.ts'
import { envelope, newEvent } from '../../events/outbox.ts'
import { SAMPLED_TYPES, sampleData } from '../../events/samples.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { nearest } from '../../kernel/nearest.ts'
import type { Work } from '../deps.ts'
import { withInstallation } from '../installations/install.ts'
import { sandboxInstall } from './installation.ts'
import type { TriggerInput } from './schemas.ts'

/**
 * Has a sample event happen for an app's sandbox installation, which is made if there is none: its feed and its webhooks get
 * it as they get a real one, and nobody else does. It carries `test`, and the platform itself does nothing about it.
 * @throws `not_found`, `no_manifest`, `app_suspended`, `installation_suspended`; `validation_error` for a type or data that
 *   the catalogue does not know
 */
export const triggerEvent = async (
  work: Work,
  developerId: string,
  { app_id, type, data: given }: TriggerInput,
): Promise<EventEnvelope> => {
  if (!isSampled(type)) throw unknownType(type)
  const id = work.id('event')
  const install = await sandboxInstall(work, developerId, app_id, 'attached')
  return withInstallation(work, install, async ({ installation, writes }) => {
    const about = { app_id, installation_id: installation.id, scopes: installation.scopes, now: work.clock.now() }
    const data = checked(type, { ...sampleData(type, about), ...given })
    const { workspace_id, id: installation_id } = installation
    const event = newEvent(work.clock, { type, workspace_id, installation_id, app_id, data, test: true }, id)
    const view = envelope(event)
    await work.commit([...writes, OutboxEntity.create(event)], view)
    return view
  })
}

/** One type, not a mask, of those that receivers get. */
const isSampled = (type: string): type is EventType =>
  isMask(type) && !type.endsWith('*') && definitionOf(type)?.audience !== 'internal'

const unknownType = (type: string) => {
  const meant = nearest(type, SAMPLED_TYPES)
  const wrong = `unknown event type${meant === undefined ? '' : `; did you mean ${meant}?`}`
  return fail('validation_error', {
    message: `No receiver gets events of the type ${type}.`,
    fix: `Send one of: ${SAMPLED_TYPES.join(', ')}.`,
    details: { fields: { type: [wrong] } },
  })
}

const checked = (type: string, data: Record<string, unknown>): Record<string, unknown> => {
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > LIMITS.eventDataBytes) {
    throw fail('payload_too_large', { message: `The data has ${bytes} bytes; at most ${LIMITS.eventDataBytes}.` })
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
