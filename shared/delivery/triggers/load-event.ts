import { isTimed, type LoadEvent } from '#shared/agents/schedules/index.ts'
import { OutboxEntity } from '#shared/foundation/outbox/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { loadAudience } from '../feed/audience.ts'

/**
 * Loads a recorded event with which a schedule is tried. It is one that the agent may read, and of no other person's conversation.
 * @throws `validation_error`
 */
export const loadTriedEvent: LoadEvent = async (work, { when, workspace_id, installation_id, private_to }, eventId) => {
  if (isTimed(when)) throw wrong('is only for a schedule that events start')
  const event = isId('event', eventId) ? await work.table.get(OutboxEntity, { id: eventId }) : undefined
  if (event?.workspace_id !== workspace_id) throw unknown()
  if (event.private_to !== undefined && event.private_to !== private_to) throw unknown()
  if (!(await loadAudience(work, event)).includes(installation_id)) throw unknown()
  return event
}

const unknown = () => wrong('is no event that the agent may read')

const wrong = (problem: string) =>
  fail('validation_error', { message: `event_id ${problem}.`, details: { fields: { event_id: [problem] } } })
