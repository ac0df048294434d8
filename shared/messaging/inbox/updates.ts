import { TOPICS, type UpdatesView, watchUpdates } from '#shared/foundation/updates/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { Reader } from './list.ts'
import { inboxFrom, inboxRefs, loadUnreadCount } from './read-state.ts'

/**
 * `GET /console/updates`: reads three small records in one batch. Counts the person's unread notifications only after a
 * new one arrived. At most twice a day it writes that the workspace is watched.
 */
export const readUpdates = async (
  deps: Pick<Work, 'table' | 'clock' | 'commit'>,
  reader: Reader,
  since: string | undefined,
): Promise<UpdatesView> => {
  const [kept, shared, own] = await deps.table.getAll(inboxRefs(reader))
  const inbox = inboxFrom(reader, kept, await watchUpdates(deps, reader.workspace_id, shared), own)
  const { state, updates } = inbox
  const numbers = [...TOPICS.map((topic) => updates[topic] ?? 0), state.revision].map((n) => n.toString(36))
  const before = since?.split('-') ?? []
  const differs = (i: number): boolean => before.length !== numbers.length || before[i] !== numbers[i]
  const changed = Object.fromEntries(TOPICS.map((topic, i) => [topic, differs(i)])) as UpdatesView['changed']
  return {
    version: numbers.join('-'),
    changed: { ...changed, notifications: changed.notifications || differs(TOPICS.length) },
    counts: {
      ...(Object.fromEntries(TOPICS.map((topic) => [topic, updates[topic] ?? 0])) as UpdatesView['counts']),
      notifications: (updates.notifications ?? 0) + state.revision,
    },
    unread_notifications: await loadUnreadCount(deps, reader, inbox),
  }
}
