import type { Deps } from '../work/work.ts'
import { type Topic, UpdatesEntity } from './entity.ts'

/**
 * Marks topics as changed. Call it once the change can be read. Marking twice only makes a page poll once more, so
 * repeated workers may mark again. Uses plain additions to one item, which don't conflict as transactions would.
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

/** Returns the topics that an event of this type changes. */
export const topicsOf = (type: string): Topic[] => {
  const [kind] = type.split('.')
  switch (kind) {
    case 'run':
      // A run that ends voids its pending approval.
      return type === 'run.created' ? ['runs'] : ['runs', 'approvals']
    case 'approval':
      return ['runs', 'approvals']
    case 'task':
      return ['tasks']
    case 'message':
    case 'chat':
      return ['messages']
    case 'messenger':
      // An update of a Business connection doesn't belong to a workspace yet.
      return type === 'messenger.update' ? [] : ['messenger']
    case 'notification':
      return ['notifications']
    case 'installation':
      return ['installations']
    default:
      return []
  }
}
