import { ENTITIES } from '#shared/entities.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import type { AnyEntity, Key, Write } from '#shared/table/entity.ts'
import { listEverythingIn, listKeys } from '#shared/table/lists.ts'
import { eachPage } from '#shared/table/pages.ts'
import { type Budget, createConcurrencyLimit, settleAll, spendBudget } from './budget.ts'
import { partitionsOf, payloadsIn } from './records.ts'
import { undoFor } from './undo.ts'

/** Records of a partition read at a time, and operations in parallel in the table and the bucket. */
const PAGE = 50
const AT_ONCE = 24

/**
 * Empties partitions with everything that their records refer to. It deletes dependents before the record, and corrects
 * counters in the record's transaction. If a worker dies at any point, the remaining records still refer to the rest, and
 * the next round continues.
 */
export const createPartitionRemover = (work: Work, budget: Budget) => {
  const pass = createConcurrencyLimit(AT_ONCE)
  /** Partitions emptied already, because several records can refer to one. */
  const begun = new Map<string, Promise<void>>()

  const empty = (partition: string): Promise<void> => {
    const known = begun.get(partition) ?? emptyNow(partition)
    begun.set(partition, known)
    return known
  }

  const emptyNow = async (partition: string): Promise<void> => {
    for (;;) {
      spendBudget(budget)
      const { items } = await pass(() => listEverythingIn(work.table, partition, { limit: PAGE }))
      // The workspace record itself is deleted last.
      const records = items.filter(({ entity }) => entity !== WorkspaceEntity.name)
      if (records.length === 0) return
      await settleAll(records.map((record) => () => end(record.entity, record.key, record.item)))
    }
  }

  const emptyList = async (owner: string): Promise<void> => {
    const pages = eachPage((after) => {
      spendBudget(budget)
      return pass(() => listKeys(work.table, owner, { limit: PAGE, after }))
    })
    for await (const keys of pages) await settleAll(keys.map((key) => () => remove('listed', key)))
  }

  const end = async (name: string, key: Key, item: Record<string, unknown>): Promise<void> => {
    const retention = ENTITIES.get(name)?.retention
    const it = item as never
    await settleAll(partitionsOf(name, item).map((partition) => () => empty(partition)))
    await settleAll((retention?.lists?.(it) ?? []).map((owner) => () => emptyList(owner)))
    await undoFor(name)?.(work, it)
    const objects = [...(retention?.objects?.(it) ?? []), ...payloadsIn(item)]
    await settleAll(objects.map((object) => () => pass(() => work.objects.delete(object))))
    for (const twin of retention?.twins?.(it) ?? []) await remove('twin', twin)
    await remove(name, key)
  }

  const remove = (name: string, key: Key): Promise<void> => {
    spendBudget(budget)
    return pass(() => work.table.transact([deletion(name, key)]))
  }

  return { empty, end }
}

/** Returns the delete of a record, also for entities that this release does not know. */
const deletion = (name: string, key: Key): Write => ({
  kind: 'delete',
  entity: ENTITIES.get(name) ?? ({ name } as AnyEntity),
  key,
  where: {},
})
