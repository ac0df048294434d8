import { isDeepStrictEqual } from 'node:util'
import { ENTITIES } from '#shared/entities.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { User } from '#shared/identity/people/index.ts'
import type { AnyEntity, Key, Write } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Budget, spendBudget } from './budget.ts'
import { namesIn } from './records.ts'

type Fields = Record<string, unknown>

/**
 * Changes a record as it was read, or the current one if it changed.
 * @param change returns the fields to change; none if there is nothing to do
 */
export const changeRecord = async (
  work: Work,
  { name, key, read }: { name: string; key: Key; read: Fields },
  change: (item: Fields) => Fields,
  budget: Budget,
): Promise<void> => {
  const entity = ENTITIES.get(name) ?? ({ name } as AnyEntity)
  let known: Fields | undefined = read
  await retryOnConflict(async () => {
    // Also reads records that are hidden from readers.
    const [item = {}]: readonly Fields[] = known ? [known] : await work.table.getAll([{ entity, key }], true)
    known = undefined
    const set = change(item)
    const fields = Object.keys(set)
    if (fields.length === 0) return
    spendBudget(budget)
    const before = Object.fromEntries(fields.map((field) => [field, item[field]]))
    const write: Write = { kind: 'update', entity, key, changes: { set }, where: before }
    await work.table.transact([write])
  })
}

/** Replaces the person's name in the fields that the record's entity declares. */
export const renameInRecord = (
  work: Work,
  name: string,
  key: Key,
  read: Fields,
  { id, name: other }: User,
  budget: Budget,
): Promise<void> =>
  changeRecord(
    work,
    { name, key, read },
    (item) =>
      Object.fromEntries(
        namesIn(name).flatMap((field) => {
          const renamed = replaceName(item[field], id, other)
          return isDeepStrictEqual(renamed, item[field]) ? [] : [[field, renamed]]
        }),
      ),
    budget,
  )

/** Returns the value with `name` wherever the person appears in it by id and name. */
export const replaceName = (value: unknown, id: string, name: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => replaceName(one, id, name))
  if (typeof value !== 'object' || value === null) return value
  const own = value as Fields
  if (own.id === id && typeof own.name === 'string') return { ...own, name }
  return Object.fromEntries(Object.entries(own).map(([field, one]) => [field, replaceName(one, id, name)]))
}
