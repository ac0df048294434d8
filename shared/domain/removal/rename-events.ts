import { type FeedEntryEntity, OutboxEntity, type OutboxEvent } from '../../entities/events.ts'
import type { User } from '../../entities/people.ts'
import type { ItemOf } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import type { Budget } from './budget.ts'
import { changeRecord, withName } from './rename-record.ts'

/**
 * Events in whose data people stand by name, or which say what was said, and in which fields. An agent's own (`custom.*`) may say
 * anything.
 */
const SAYING: Record<string, readonly string[]> = {
  'message.created': ['text'],
  'notification.created': ['title', 'body'],
  'run.failed': ['error_message'],
}

const isCustom = (type: string): boolean => type.startsWith('custom.')

/**
 * Puts the person's other name into the events of a feed, which stay for 30 days to be polled and sent again. What was said in their
 * own chats, those events do not say any more.
 */
export const renameInFeed = async (
  work: Work,
  entries: readonly ItemOf<typeof FeedEntryEntity>[],
  user: User,
  budget: Budget,
): Promise<void> => {
  const saying = entries.filter(({ type }) => type in SAYING || isCustom(type))
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
  const data = JSON.stringify(withName(event.private_to === id ? unsaid(event.type, before) : before, id, name))
  return data === JSON.stringify(before) ? {} : { data }
}

const unsaid = (type: string, data: Record<string, unknown>): Record<string, unknown> =>
  isCustom(type) ? {} : { ...data, ...Object.fromEntries((SAYING[type] ?? []).map((field) => [field, ''])) }
