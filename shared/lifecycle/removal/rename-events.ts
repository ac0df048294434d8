import { definitionOf } from '#shared/delivery/catalogue/index.ts'
import { eventsOf, type FeedEntryEntity } from '#shared/delivery/feed/index.ts'
import { OutboxEntity, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { User } from '#shared/identity/people/index.ts'
import type { ItemOf } from '#shared/table/entity.ts'
import type { Budget } from './budget.ts'
import { changeRecord, replaceName } from './rename-record.ts'

/**
 * Returns the fields of an event that hold personal text. Any field of an agent's own event (`custom.*`) may hold some.
 */
const personalIn = (type: string): readonly string[] | undefined => definitionOf(type)?.personal

const isCustom = (type: string): boolean => type.startsWith('custom.')

/**
 * Replaces the person's name in the events of a feed, which can be polled and redelivered for 30 days. Events of the
 * person's own conversations lose their text.
 */
export const renameInFeed = async (
  work: Work,
  entries: readonly ItemOf<typeof FeedEntryEntity>[],
  user: User,
  budget: Budget,
): Promise<void> => {
  const saying = entries.flatMap(eventsOf).filter(({ type }) => personalIn(type) !== undefined || isCustom(type))
  const keys = saying.map(({ event_id }) => OutboxEntity.key({ id: event_id }))
  const events = await work.table.getAll(keys.map((key) => ({ entity: OutboxEntity, key })))
  for (const event of events) {
    if (!event) continue
    const record = { name: OutboxEntity.name, key: OutboxEntity.key(event), read: event }
    await changeRecord(work, record, (item) => renamed(item as OutboxEvent, user), budget)
  }
}

const renamed = (event: OutboxEvent, { id, name }: User): Partial<OutboxEvent> => {
  const before = JSON.parse(event.data) as Record<string, unknown>
  const data = JSON.stringify(replaceName(event.private_to === id ? withoutText(event.type, before) : before, id, name))
  return data === JSON.stringify(before) ? {} : { data }
}

const withoutText = (type: string, data: Record<string, unknown>): Record<string, unknown> =>
  isCustom(type)
    ? {}
    : {
        ...data,
        ...Object.fromEntries(
          (personalIn(type) ?? []).map((field) => [field, typeof data[field] === 'string' ? '' : null]),
        ),
      }
