import type * as z from 'zod'
import type { IdTime } from '../kernel/ids.ts'
import { type Changes, exists, missing, type Where } from './expressions.ts'

type Fields<Template extends string> = Template extends `${string}{${infer Field}}${infer Rest}`
  ? Field | Fields<Rest>
  : never

/** Values for every `{field}` of the key templates. Numbers are padded, so that they sort. */
export type KeyFields<Pk extends string, Sk extends string = ''> = {
  [F in Fields<Pk> | Fields<Sk>]: string | number
}

/** Key attributes as stored. */
export interface Key {
  pk: string
  sk: string
}

/** Reference to an item: its entity and key. */
export interface Ref<E extends AnyEntity = AnyEntity> {
  entity: E
  key: Key
}

/** Write as data. A transaction is a list of writes. */
export interface Write {
  readonly kind: 'put' | 'update' | 'delete' | 'check'
  readonly entity: AnyEntity
  readonly key: Key
  readonly item?: Record<string, unknown>
  readonly changes?: Changes<Record<string, unknown>>
  readonly where: Record<string, unknown>
  /** Returns the error for a failed condition, given the current item. Default: {@link ConditionFailed}. */
  readonly otherwise?: ((current: never) => unknown) | undefined
  /** The table sends no messages: only a unit of work takes a write that a message follows. */
  readonly followUp?: undefined
}

/** Error for a failed condition. `current` is the item as it is. */
export class ConditionFailed extends Error {
  readonly #entity: string
  readonly #key: Key
  readonly current: unknown
  constructor({ entity, key }: Ref, current: unknown) {
    super(`the condition on ${entity.name} did not hold`)
    this.name = 'ConditionFailed'
    this.#entity = entity.name
    this.#key = key
    this.current = current
  }

  /** Returns true if it was the condition of this write that failed. */
  isOf({ entity, key }: Ref): boolean {
    return entity.name === this.#entity && key.pk === this.#key.pk && key.sk === this.#key.sk
  }
}

/** Error for a writer whose work was taken over by another worker. It stops, and its writes aren't needed. */
export class Superseded extends Error {}

/** Awaits a conditional write. @returns false if its condition failed because the item was changed or already written */
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

/** Retention periods that a deployment can set. */
export interface Retention {
  /** Days to keep runs with their inputs and outputs. */
  payloadDays: number
}

/**
 * Partition, given by the name of an entity and the fields of its key. A name rather than the entity, because the entity
 * may belong to a later context than the record that owns the partition.
 */
export type OwnedPartition = readonly [entity: string, fields: Record<string, string | number>]

/**
 * Retention of a record whose owner is deleted.
 * - `removed`: it is deleted with everything that it leads to
 * - `expires`: it expires by itself soon, or holds only ids and hashes, and has no use without the deleted records
 * - `kept`: it belongs to another owner, or must be kept
 */
type RecordRetention = 'removed' | 'expires' | 'kept'

/** Personal data in a record: the names of its fields. */
export interface PersonalFields<Field extends string = string> {
  /** People by id and name, at any depth. The name of a deleted person is replaced. */
  names?: readonly Field[]
  /** Texts and values that people wrote, or that agents wrote to them. */
  text?: readonly Field[]
  /** Names, addresses and devices of the person or company that the record is about. */
  contact?: readonly Field[]
}

/** Retention of a record when its workspace, its person or its app is deleted. */
export interface RetentionPolicy<T> {
  workspace: RecordRetention
  /** When the person deletes their account. Others' records that name the person are kept, under another name. */
  person: RecordRetention
  /** When the app is deleted, which only a draft can be. */
  app: RecordRetention
  /** Days from the end of the workspace's grace period until unreferenced records have expired. */
  days?: number
  /** Partitions that belong to this record alone. They are emptied first, so that the record leads to them until then. */
  partitions?: (item: T) => readonly OwnedPartition[]
  /** Narrowed lists that belong to this record, whose items are stored elsewhere. */
  lists?: (item: T) => string[]
  /** Records stored elsewhere that are deleted with it. */
  twins?: (item: T) => Key[]
  /** Objects in the bucket, in addition to those named by the record's own fields. */
  objects?: (item: T) => string[]
}

export interface EntityDefinition<T, Pk extends string, Sk extends string> {
  /** Stored in the item, so that a raw item can be identified. */
  name: string
  /** Table of the records, if it isn't the platform's own. */
  table?: 'audit'
  /** Checked if `checkWrites` is on (tests, local). A thunk, so that a cold start builds no unused schemas. */
  schema: () => z.ZodType<T>
  /** Key templates: literal text with `{field}` placeholders. */
  pk: Pk
  sk: Sk
  personal: PersonalFields<NoInfer<keyof T & string>> | 'none'
  retention: RetentionPolicy<T>
  /** Returns the epoch ms after which the item may be deleted. Readers check the time themselves where it matters. */
  expires?: (item: T, retention: Retention) => number | undefined
  /** Returns true if readers no longer see the item once it expires. The store may take days to delete it. */
  hides?: (item: T) => boolean
  /** Adds the item to the overdue index by its field `due_at`, in epoch ms. */
  due?: true
  /** Returns the place in a cross-tenant list: the list's name, the day if it is split by day, and the sort value. */
  directory?: (item: T) => { list: string; day?: number; sort: string }
  /** Returns the place in one owner's narrowed list. */
  list?: (item: T) => { owner: string; sort: string } | undefined
}

/** Entity with its keys and writes. Reads go through `Table`. */
export interface Entity<T, Pk extends string, Sk extends string> extends EntityDefinition<T, Pk, Sk> {
  key(fields: KeyFields<Pk, Sk>): Key
  ref(fields: KeyFields<Pk, Sk>): Ref<Entity<T, Pk, Sk>>
  partition(fields: KeyFields<Pk>): string
  /** Literal start of the sort key, which all items of the entity share. */
  readonly prefix: string
  /** Creates an item. Fails if it exists. */
  create(item: T, guard?: Pick<Guard<T>, 'otherwise'>): Write
  /** Creates or replaces an item, subject to `where`. */
  replace(item: T, guard?: Guard<T>): Write
  /** Changes an existing item. */
  update(fields: KeyFields<Pk, Sk>, changes: Changes<T>, guard?: Guard<T>): Write
  /** Changes an item, or creates it from the changes. */
  upsert(fields: KeyFields<Pk, Sk>, changes: Changes<T>, guard?: Guard<T>): Write
  delete(fields: KeyFields<Pk, Sk>, guard?: Guard<T>): Write
  /** Checks a condition of an existing item without writing. */
  check(fields: KeyFields<Pk, Sk>, guard: Guard<T>): Write
  /** Checks that there is no such item, without writing. */
  checkAbsent(fields: KeyFields<Pk, Sk>, guard?: Pick<Guard<T>, 'otherwise'>): Write
}

// biome-ignore lint/suspicious/noExplicitAny: type-erased form for code that handles all entities
export type AnyEntity = Entity<any, any, any>
export type ItemOf<E> = E extends Entity<infer T, string, string> ? T : never

const fill = (template: string, fields: Record<string, unknown>): string =>
  template.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = fields[field]
    if (typeof value === 'number') return String(value).padStart(12, '0')
    if (typeof value !== 'string' || value === '') throw new Error(`a key needs ${field}`)
    return value
  })

/** Refuses a record with an id whose `created_at` may be another time than that in its id. */
type Stamped<T> = T extends { id: string; created_at: infer At }
  ? At extends IdTime
    ? unknown
    : { schema: 'created_at of a record with an id is createdAt()' }
  : unknown

/** Defines an entity. Its type comes from its schema, and keys, conditions and index entries derive from the definition. */
export const defineEntity = <T extends object, Pk extends string, Sk extends string>(
  definition: EntityDefinition<T, Pk, Sk> & Stamped<T>,
): Entity<T, Pk, Sk> => {
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
  let schema: z.ZodType<T> | undefined
  const entity: Entity<T, Pk, Sk> = {
    ...definition,
    schema: () => (schema ??= definition.schema()),
    key,
    ref: (fields) => ({ entity, key: key(fields) }),
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
    checkAbsent: (fields, guard) => write('check', fields, { where: { pk: missing }, otherwise: guard?.otherwise }),
  }
  return entity
}
