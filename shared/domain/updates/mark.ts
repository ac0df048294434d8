import { type Topic, UpdatesEntity } from '../../entities/updates.ts'
import type { Deps } from '../deps.ts'

/**
 * Says that something changed, after the change can be read. Marking twice makes a page ask once more and nothing else, so
 * whoever may be repeated marks again: plain additions to one item, which never wait for each other as transactions would.
 */
export const markChanged = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  workspace_id: string,
  topics: readonly Topic[],
): Promise<void> => {
  if (topics.length === 0) return
  await table.transact([
    UpdatesEntity.upsert(
      { workspace_id },
      {
        set: { workspace_id, ...(topics.includes('notifications') && { notified_at: clock.now() }) },
        add: Object.fromEntries(topics.map((topic) => [topic, 1])),
      },
    ),
  ])
}

/** What of a workspace is other than it was, by the type of the event that tells of it. */
export const topicsOf = (type: string): Topic[] => {
  const [kind] = type.split('.')
  switch (kind) {
    case 'run':
      // A run that ends voids the approval that it waits for.
      return type === 'run.created' ? ['runs'] : ['runs', 'approvals']
    case 'approval':
      return ['runs', 'approvals']
    case 'task':
      return ['tasks']
    case 'message':
    case 'chat':
      return ['messages']
    case 'messenger':
      // News of a Business connection are not yet a workspace's.
      return type === 'messenger.update' ? [] : ['messenger']
    case 'notification':
      return ['notifications']
    case 'installation':
      return ['installations']
    default:
      return []
  }
}
