import type { Work } from '#shared/foundation/work/index.ts'
import type { Key } from '#shared/table/entity.ts'
import { ConversationEntity } from '#shared/work/conversations/index.ts'
import { TaskEntity } from '#shared/work/tasks/index.ts'
import { type Budget, spendBudget } from './budget.ts'
import { createPartitionRemover } from './partitions.ts'
import { payloadsIn } from './records.ts'
import { changeRecord } from './rename-record.ts'

interface Found {
  entity: string
  key: Key
  item: Record<string, unknown>
}

/**
 * Clears those of the records that belong to tasks of a deleted person's private conversations, which nobody else sees. The
 * conversations are deleted. The tasks keep the fields that count them.
 */
export const clearPrivateTasks = async (
  work: Work,
  records: readonly Found[],
  userId: string,
  budget: Budget,
): Promise<void> => {
  const { end } = createPartitionRemover(work, budget)
  for (const { entity, key, item } of records) {
    if (entity === ConversationEntity.name && item.kind === 'task' && item.user_id === userId) {
      await end(entity, key, item)
    }
    if (entity !== TaskEntity.name || item.private_to !== userId) continue
    for (const object of payloadsIn(item)) {
      spendBudget(budget)
      await work.objects.delete(object)
    }
    await changeRecord(work, { name: entity, key, read: item }, withoutText, budget)
  }
}

/** Empties the required texts, and removes the others. */
const withoutText = (task: Record<string, unknown>): Record<string, unknown> => ({
  ...(task.title !== '' && { title: '' }),
  ...(task.description !== '' && { description: '' }),
  ...Object.fromEntries(
    ['labels', 'attachments', 'question', 'result'].flatMap((field) =>
      task[field] === undefined ? [] : [[field, undefined]],
    ),
  ),
})
