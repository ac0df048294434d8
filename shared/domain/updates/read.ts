import { TOPICS } from '../../entities/updates.ts'
import type { Deps } from '../deps.ts'
import type { Reader } from '../notifications/list.ts'
import { inboxFrom, inboxRefs, unreadOf } from '../notifications/read-state.ts'
import type { UpdatesView } from './schemas.ts'

/**
 * `GET /console/updates`: two small records in one batch. Only after a new notification the person's unread ones are
 * counted, once.
 */
export const readUpdates = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  reader: Reader,
  since: string | undefined,
): Promise<UpdatesView> => {
  const [kept, updates] = await deps.table.getAll(inboxRefs(reader))
  const inbox = inboxFrom(reader, kept, updates)
  const numbers = [...TOPICS.map((topic) => updates?.[topic] ?? 0), inbox.state.revision].map((n) => n.toString(36))
  const before = since?.split('-') ?? []
  const differs = (i: number): boolean => before.length !== numbers.length || before[i] !== numbers[i]
  const changed = Object.fromEntries(TOPICS.map((topic, i) => [topic, differs(i)])) as UpdatesView['changed']
  return {
    version: numbers.join('-'),
    changed: { ...changed, notifications: changed.notifications || differs(TOPICS.length) },
    unread_notifications: await unreadOf(deps, reader, inbox),
  }
}
