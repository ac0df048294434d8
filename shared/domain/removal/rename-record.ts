import { isDeepStrictEqual } from 'node:util'
import type { User } from '../../entities/people.ts'
import { type AnyEntity, ConditionFailed, type Key, type Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { type Budget, spend } from './budget.ts'
import { FATES } from './fates.ts'

type Fields = Record<string, unknown>

/** Changes a record as it was read, or as it is by now. @param change the fields that change; none where nothing is to be done */
export const changeRecord = async (
  work: Work,
  { name, key, read }: { name: string; key: Key; read: Fields },
  change: (item: Fields) => Fields,
  budget: Budget,
): Promise<void> => {
  const entity = FATES.get(name)?.entity ?? ({ name } as AnyEntity)
  let item: Fields | undefined = read
  while (item) {
    const set = change(item)
    const fields = Object.keys(set)
    if (fields.length === 0) return
    spend(budget)
    const before = Object.fromEntries(fields.map((field) => [field, item?.[field]]))
    const write: Write = { kind: 'update', entity, key, changes: { set }, where: before }
    try {
      return await work.table.transact([write])
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      // Also one that readers have lost.
      const [fresh] = await work.table.getAll([{ entity, key }], true)
      item = fresh as Fields | undefined
    }
  }
}

/** Puts the person's other name into a record. */
export const renameIn = (
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
    (item) => {
      const renamed = withName(item, id, other) as Fields
      return Object.fromEntries(
        Object.entries(renamed).filter(([field, value]) => !isDeepStrictEqual(value, item[field])),
      )
    },
    budget,
  )

/** The value with `name` wherever the person stands in it by id and name. */
export const withName = (value: unknown, id: string, name: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => withName(one, id, name))
  if (typeof value !== 'object' || value === null) return value
  const own = value as Fields
  if (own.id === id && typeof own.name === 'string') return { ...own, name }
  return Object.fromEntries(Object.entries(own).map(([field, one]) => [field, withName(one, id, name)]))
}
