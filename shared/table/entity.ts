import type * as z from 'zod'
import { type Changes, exists, missing, type Where } from './expressions.ts'

type Fields<Template extends string> = Template extends `${string}{${infer Field}}${infer Rest}`
  ? Field | Fields<Rest>
  : never

/** Values for every `{field}` of the templates. Numbers are padded, so that they sort. */
export type KeyFields<Pk extends string, Sk extends string = ''> = {
  [F in Fields<Pk> | Fields<Sk>]: string | number
}

/** The two key attributes as stored. */
export interface Key {
  pk: string
  sk: string
}

/** One write, as data: what a transaction is made of. */
export interface Write {
  readonly kind: 'put' | 'update' | 'delete' | 'check'
  readonly entity: AnyEntity
  readonly key: Key
  readonly item?: Record<string, unknown>
  readonly changes?: Changes<Record<string, unknown>>
  readonly where: Record<string, unknown>
  /** What to throw when the condition fails; gets the item as it is. Without it: {@link ConditionFailed}. */
  readonly otherwise?: ((current: never) => unknown) | undefined
}

/** A write's condition did not hold. `index` is its place in the transaction, `current` the item as it is. */
export class ConditionFailed extends Error {
  readonly index: number
  readonly current: unknown
  constructor(index: number, entity: string, current: unknown) {
    super(`the condition on ${entity} did not hold`)
    this.name = 'ConditionFailed'
    this.index = index
    this.current = current
  }
}

/** Whether a write was made. @returns false when its condition did not hold: others changed it first, or it was done before */
export const ifUnchanged = async (write: Promise<unknown>): Promise<boolean> => {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionFailed) return false
    throw error
  }
}

export interface Guard<T> {
  where?: Where<T>
  otherwise?: (current: T | undefined) => unknown
}

/** How long a deployment keeps what it may choose for. */
export interface Retention {
  /** Days that what runs took and gave is kept. */
  payloadDays: number
}

export interface EntityDefinition<T, Pk extends string, Sk extends string> {
  /** Stored in the item, so that a raw item tells what it is. */
  name: string
  /** Checked when `checkWrites` is on (tests, local); a thunk, so that a cold start builds no schemas it does not use. */
  schema: () => z.ZodType<T>
  /** Key templates: literal text with `{field}` placeholders. */
  pk: Pk
  sk: Sk
  /** Epoch ms after which the item may vanish; readers check the time themselves where it matters. */
  expires?: (item: T, retention: Retention) => number | undefined
  /** Whether readers lose it when it expires, though the store may take days to remove it. */
  hides?: (item: T) => boolean
  /** Epoch ms by which the sweep looks at the item; kept in the field `due_at`. */
  due?: true
  /** Place in a cross-tenant list: its name, whether it is kept by day, and the sort value. */
  directory?: (item: T) => { list: string; day?: number; sort: string }
  /** Place in one owner's narrowed list. */
  list?: (item: T) => { owner: string; sort: string } | undefined
}

/** An entity: its keys and its writes. Reading goes through `Table`. */
export interface Entity<T, Pk extends string, Sk extends string> extends EntityDefinition<T, Pk, Sk> {
  key(fields: KeyFields<Pk, Sk>): Key
  partition(fields: KeyFields<Pk>): string
  /** The literal start of the sort key: what a list of this entity begins with. */
  readonly prefix: string
  /** Creates; fails when the item exists. */
  create(item: T, guard?: Pick<Guard<T>, 'otherwise'>): Write
  /** Writes whatever was there, unless `where` forbids. */
  replace(item: T, guard?: Guard<T>): Write
  /** Changes an item that exists. */
  update(fields: KeyFields<Pk, Sk>, changes: Changes<T>, guard?: Guard<T>): Write
  /** Changes an item, or makes it from the changes alone. */
  upsert(fields: KeyFields<Pk, Sk>, changes: Changes<T>, guard?: Guard<T>): Write
  delete(fields: KeyFields<Pk, Sk>, guard?: Guard<T>): Write
  /** A condition only. */
  check(fields: KeyFields<Pk, Sk>, guard: Guard<T>): Write
}

// biome-ignore lint/suspicious/noExplicitAny: the erased form, for code that handles every entity alike
export type AnyEntity = Entity<any, any, any>
export type ItemOf<E> = E extends Entity<infer T, string, string> ? T : never

const fill = (template: string, fields: Record<string, unknown>): string =>
  template.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = fields[field]
    if (typeof value === 'number') return String(value).padStart(12, '0')
    if (typeof value !== 'string' || value === '') throw new Error(`a key needs ${field}`)
    return value
  })

/** Declares an entity once; keys, conditions and index entries all derive from it. */
export const defineEntity =
  <T extends object>() =>
  <Pk extends string, Sk extends string>(definition: EntityDefinition<T, Pk, Sk>): Entity<T, Pk, Sk> => {
    const key = (fields: object): Key => ({
      pk: fill(definition.pk, fields as Record<string, unknown>),
      sk: fill(definition.sk, fields as Record<string, unknown>),
    })
    const write = (kind: Write['kind'], at: object, rest: Partial<Write>): Write => ({
      kind,
      entity,
      key: key(at),
      where: {},
      ...rest,
    })
    const entity: Entity<T, Pk, Sk> = {
      ...definition,
      key,
      partition: (fields) => fill(definition.pk, fields),
      prefix: definition.sk.split('{')[0] ?? '',
      create: (item, guard) =>
        write('put', item, {
          item: item as Record<string, unknown>,
          where: { pk: missing },
          otherwise: guard?.otherwise,
        }),
      replace: (item, guard) =>
        write('put', item, {
          item: item as Record<string, unknown>,
          where: { ...guard?.where },
          otherwise: guard?.otherwise,
        }),
      update: (fields, changes, guard) =>
        write('update', fields, {
          changes: changes as Changes<Record<string, unknown>>,
          where: { pk: exists, ...guard?.where },
          otherwise: guard?.otherwise,
        }),
      upsert: (fields, changes, guard) =>
        write('update', fields, {
          changes: changes as Changes<Record<string, unknown>>,
          where: { ...guard?.where },
          otherwise: guard?.otherwise,
        }),
      delete: (fields, guard) => write('delete', fields, { where: { ...guard?.where }, otherwise: guard?.otherwise }),
      check: (fields, guard) =>
        write('check', fields, { where: { pk: exists, ...guard.where }, otherwise: guard.otherwise }),
    }
    return entity
  }
