import { WorkspaceEntity } from '../../entities/people.ts'
import type { AnyEntity, Key, Write } from '../../table/entity.ts'
import { everythingIn, keysListed } from '../../table/lists.ts'
import type { Work } from '../deps.ts'
import { allOf, type Budget, gate, spend } from './budget.ts'
import { FATES, payloadsIn } from './fates.ts'
import { undoing } from './undo.ts'

/** Read of a partition at a time, and done at the same time in the store and the bucket. */
const PAGE = 50
const AT_ONCE = 24

/**
 * Empties partitions with all that their records lead to. What a record leads to goes before the record, and what it counts in
 * is set right with it: so whoever is killed anywhere leaves what leads to the rest, and the next round begins anew and goes on.
 */
export const emptying = (work: Work, budget: Budget) => {
  const pass = gate(AT_ONCE)
  /** A partition that several records lead to is emptied once. */
  const begun = new Map<string, Promise<void>>()

  const empty = (partition: string): Promise<void> => {
    const known = begun.get(partition) ?? emptyNow(partition)
    begun.set(partition, known)
    return known
  }

  const emptyNow = async (partition: string): Promise<void> => {
    for (;;) {
      spend(budget)
      const { items } = await pass(() => everythingIn(work.table, partition, { limit: PAGE }))
      // The workspace itself goes last.
      const records = items.filter(({ entity }) => entity !== WorkspaceEntity.name)
      if (records.length === 0) return
      await allOf(records.map((record) => () => end(record.entity, record.key, record.item)))
    }
  }

  const emptyList = async (owner: string): Promise<void> => {
    let after: string | undefined
    do {
      spend(budget)
      const page = await pass(() => keysListed(work.table, owner, { limit: PAGE, after }))
      await allOf(page.items.map((key) => () => remove('listed', key)))
      after = page.next
    } while (after !== undefined)
  }

  const end = async (name: string, key: Key, item: Record<string, unknown>): Promise<void> => {
    const fate = FATES.get(name)
    const it = item as never
    await allOf((fate?.partitions?.(it) ?? []).map((partition) => () => empty(partition)))
    await allOf((fate?.lists?.(it) ?? []).map((owner) => () => emptyList(owner)))
    await undoing(name)?.(work, it)
    const objects = [...(fate?.objects?.(it) ?? []), ...payloadsIn(item)]
    await allOf(objects.map((object) => () => pass(() => work.objects.delete(object))))
    for (const twin of fate?.twins?.(it) ?? []) await remove('twin', twin)
    await remove(name, key)
  }

  const remove = (name: string, key: Key): Promise<void> => {
    spend(budget)
    return pass(() => work.table.transact([deletion(name, key)]))
  }

  return { empty, end }
}

/** Records of an entity that this release does not know go, too. */
const deletion = (name: string, key: Key): Write => ({
  kind: 'delete',
  entity: FATES.get(name)?.entity ?? ({ name } as AnyEntity),
  key,
  where: {},
})
