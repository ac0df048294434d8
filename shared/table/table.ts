import { isDeepStrictEqual } from 'node:util'
import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { Clock } from '../kernel/clock.ts'
import { FUNCTION_SETTINGS } from '../kernel/settings/declared.ts'
import type { StoreClient } from './client.ts'
import {
  type AnyEntity,
  ConditionFailed,
  type Entity,
  type ItemOf,
  type Key,
  type KeyFields,
  type Ref,
  type Write,
} from './entity.ts'
import { Expressions } from './expressions.ts'
import {
  dueAttributes,
  duePartition,
  expiryAttribute,
  itemAttributes,
  listAttributes,
  listPartition,
  withoutTableAttributes,
} from './indexes.ts'
import { type IndexName, TABLE_LAYOUT } from './layout.ts'
import { checkKeys } from './limits.ts'
import { backoff } from './retry.ts'

export interface TableOptions {
  client: StoreClient
  tableName: string
  /** Table of the audit, to which only its recorder may add. Default: the same table, as in benchmarks. */
  auditTableName?: string | undefined
  /** Shards of cross-tenant lists. Readers read only these shards, so never lower it. */
  shards: number
  /** Shards of the overdue index, at least as many. Default: those of the lists. */
  dueShards?: number | undefined
  /** Shards of the platform's counters, at least as many. Default: those of the lists. */
  counterShards?: number | undefined
  /** Days to keep runs with their inputs and outputs. Sets the expiry of records. Default: the setting's default. */
  payloadDays?: number
  /** Clock for hiding expired items. Without it, readers see expired items until the store deletes them. */
  clock?: Clock
  /** Checks each put against its entity's schema. On in tests and locally. */
  checkWrites?: boolean
}

export interface QueryOptions {
  /** Most items on the page. One more is read to learn if another page follows. */
  limit: number
  /** Sort value to continue after: `next` of the previous page. */
  after?: string | undefined
  /** Oldest first. Default: newest first. */
  ascending?: boolean
  /** Bounds of the sort key, as full sort values, inclusive. */
  from?: string
  to?: string
  consistent?: boolean
}

/** Items that a page of an index leaves out. */
interface Skipping {
  skips: (item: Record<string, unknown>) => boolean
  /** Most items to read in addition to those of the page. */
  atMost: number
}

export interface Page<T> {
  items: T[]
  /** Sort value to continue after. Undefined on the last page. */
  next: string | undefined
}

/** Entry of the overdue index. */
export interface DueItem {
  shard: number
  entity: string
  key: Key
  dueAt: number
}

/** Place of an item: the name of its table, and its key. */
interface Place {
  name: string
  key: Key
}

const nameOf = ({ name, key: { pk, sk } }: Place): string => `${name}\n${pk}\n${sk}`

/** Stored items by their place. */
type Items = ReadonlyMap<string, Record<string, unknown>>

/** Most items that DynamoDB reads in one call. */
const READ_AT_ONCE = 100

/** The table. Reads are consistent unless they go through an index. Nothing scans. */
export class Table {
  readonly #client: StoreClient
  readonly #name: string
  readonly #auditName: string
  /** Shards of cross-tenant lists. */
  readonly shards: number
  /** Shards of the overdue index. */
  readonly dueShards: number
  /** Shards of the platform's counters. */
  readonly counterShards: number
  /** Days to keep runs with their inputs and outputs. */
  readonly payloadDays: number
  readonly #clock: Clock | undefined
  readonly #check: boolean

  constructor(options: TableOptions) {
    this.#client = options.client
    this.#name = options.tableName
    this.#auditName = options.auditTableName ?? options.tableName
    this.shards = options.shards
    this.dueShards = options.dueShards ?? options.shards
    this.counterShards = options.counterShards ?? options.shards
    this.payloadDays = options.payloadDays ?? FUNCTION_SETTINGS.payloadRetentionDays.default
    this.#clock = options.clock
    this.#check = options.checkWrites ?? false
  }

  #nameOf(entity: AnyEntity | undefined): string {
    return entity?.table === 'audit' ? this.#auditName : this.#name
  }

  async get<T extends object, P extends string, S extends string>(
    entity: Entity<T, P, S>,
    fields: KeyFields<P, S>,
  ): Promise<T | undefined> {
    const place = { name: this.#nameOf(entity), key: entity.key(fields) }
    const item = (await this.#together([place])).get(nameOf(place))
    return item && (this.#shown(entity, item) as T | undefined)
  }

  /** Returns an item as readers see it, or undefined if it is hidden after its expiry. */
  #shown(entity: AnyEntity, stored: Record<string, unknown>): Record<string, unknown> | undefined {
    const item = withoutTableAttributes(stored)
    const isHidden = this.#clock && entity.hides?.(item) && Number(entity.expires?.(item, this)) <= this.#clock.now()
    return isHidden ? undefined : item
  }

  /**
   * Reads items in the order of the refs, with undefined for missing items. Takes one round trip per 100 items.
   * @param hidden includes items that readers no longer see, for code that changes stored items
   */
  async getAll<const R extends readonly Ref[]>(
    refs: R,
    hidden = false,
  ): Promise<{ [I in keyof R]: ItemOf<R[I]['entity']> | undefined }> {
    return this.#getAll(refs, { hidden, consistent: true })
  }

  /**
   * Reads items as {@link getAll} does, at half the cost: eventually consistently, and then consistently those that it doesn't
   * find, or not in their last state. Only for records whose fields that matter never change from then on.
   */
  async getAllUnchanging<const R extends readonly Ref[]>(
    refs: R,
    isLast: (item: ItemOf<R[number]['entity']>) => boolean = () => true,
  ): Promise<{ [I in keyof R]: ItemOf<R[I]['entity']> | undefined }> {
    const read = await this.#getAll(refs as readonly Ref[], { hidden: false, consistent: false })
    const found = read.map((item) => (item && isLast(item) ? item : undefined))
    const missed = refs.filter((_, i) => found[i] === undefined)
    const late = missed.length > 0 ? await this.#getAll(missed, { hidden: false, consistent: true }) : []
    let next = 0
    return found.map((item) => item ?? late[next++]) as never
  }

  async #getAll<const R extends readonly Ref[]>(
    refs: R,
    { hidden, consistent }: { hidden: boolean; consistent: boolean },
  ): Promise<{ [I in keyof R]: ItemOf<R[I]['entity']> | undefined }> {
    const places = refs.map(({ entity, key }): Place => ({ name: this.#nameOf(entity), key }))
    const found = consistent ? await this.#together(places) : await this.#read(places, false)
    return refs.map((ref, i) => {
      const item = found.get(nameOf(places[i] as Place))
      return item && (hidden ? withoutTableAttributes(item) : this.#shown(ref.entity, item))
    }) as never
  }

  /** Consistent reads that begin in the same turn of the event loop, and what they find together. */
  #gathered: { places: Map<string, Place>; found: Promise<Items> } | undefined

  /**
   * Reads items consistently, in one round trip with all other items that are asked for in the same turn of the event loop. The
   * calls are most of what a read costs the CPU.
   */
  #together(places: readonly Place[]): Promise<Items> {
    const gathered = this.#gathered
    if (!gathered || gathered.places.size + places.length > READ_AT_ONCE) return this.#gather(places)
    for (const place of places) gathered.places.set(nameOf(place), place)
    return gathered.found
  }

  #gather(places: readonly Place[]): Promise<Items> {
    const gathering = new Map(places.map((place) => [nameOf(place), place]))
    // Runs when no promise is left that could ask for more.
    const found = new Promise<void>((go) => process.nextTick(go)).then(() => {
      if (this.#gathered?.places === gathering) this.#gathered = undefined
      return this.#read([...gathering.values()], true)
    })
    this.#gathered = { places: gathering, found }
    return found
  }

  /** Reads distinct items, at most {@link READ_AT_ONCE} in each round trip. */
  async #read(places: readonly Place[], consistent: boolean): Promise<Items> {
    const found = new Map<string, Record<string, unknown>>()
    const [only] = places
    if (only && places.length === 1) {
      const { Item } = await this.#client.send(
        new GetCommand({ TableName: only.name, Key: only.key, ConsistentRead: consistent }),
      )
      return Item ? found.set(nameOf(only), Item) : found
    }
    let wanted = [...new Map(places.map((place) => [nameOf(place), place])).values()]
    for (let attempt = 0; wanted.length > 0; attempt++) {
      if (attempt > 0) await backoff(attempt)
      const byTable = Map.groupBy(wanted.slice(0, READ_AT_ONCE), ({ name }) => name)
      const { Responses = {}, UnprocessedKeys = {} } = await this.#client.send(
        new BatchGetCommand({
          RequestItems: Object.fromEntries(
            [...byTable].map(([name, own]) => [name, { Keys: own.map(({ key }) => key), ConsistentRead: consistent }]),
          ),
        }),
      )
      for (const [name, items] of Object.entries(Responses))
        for (const item of items) found.set(nameOf({ name, key: item as unknown as Key }), item)
      const again = Object.entries(UnprocessedKeys).flatMap(([name, { Keys = [] }]) =>
        Keys.map((key): Place => ({ name, key: key as unknown as Key })),
      )
      wanted = [...again, ...wanted.slice(READ_AT_ONCE)]
    }
    return found
  }

  /** Reads a page of a partition in one query. */
  async query<T extends object, P extends string, S extends string>(
    entity: Entity<T, P, S>,
    partition: KeyFields<P>,
    options: QueryOptions,
  ): Promise<Page<T>> {
    const { items, next } = await this.page('sk', entity.partition(partition), entity.prefix, options, entity)
    return { items: items.flatMap((item) => (this.#shown(entity, item) as T | undefined) ?? []), next }
  }

  /** Reads a page of an owner's narrowed list: keys from the index, then the records in one batch. */
  async listed<T extends object, P extends string, S extends string>(
    entity: Entity<T, P, S>,
    owner: string,
    options: QueryOptions,
  ): Promise<Page<T>> {
    const page = await this.page('list', listPartition(owner), undefined, options, entity)
    return { items: await this.load(entity, page.items), next: page.next }
  }

  /**
   * Reads the keys of items due at `before` or earlier from every shard, or only from those given, oldest first. The index may
   * lag, so read the record before acting on it.
   * @param skipping entities to leave out. Reading continues past their items, at most `atMost` more in each shard.
   */
  async due(
    before: number,
    limitPerShard: number,
    only?: readonly number[],
    skipping?: { skips: (entity: string) => boolean; atMost: number },
  ): Promise<DueItem[]> {
    const { sortKey } = TABLE_LAYOUT.indexes.due
    const parse = (item: Record<string, unknown>) => {
      const [at = '', entity = ''] = String(item[sortKey]).split('#')
      return { entity, dueAt: Number(at) }
    }
    const wanted = only ?? Array.from({ length: this.dueShards }, (_, shard) => shard)
    const shards = await Promise.all(
      wanted.map((shard) =>
        this.page('due', duePartition(shard), undefined, {
          limit: limitPerShard,
          ascending: true,
          to: `${String(before).padStart(13, '0')}#~`,
          ...(skipping && {
            skipping: { ...skipping, skips: (item: Record<string, unknown>) => skipping.skips(parse(item).entity) },
          }),
        }),
      ),
    )
    return shards
      .flatMap(({ items }, i) =>
        items.map((item) => ({
          shard: wanted[i] as number,
          key: { pk: String(item.pk), sk: String(item.sk) },
          ...parse(item),
        })),
      )
      .sort((a, b) => a.dueAt - b.dueAt)
  }

  /** Reads one item by a stored key, as returned by an index. */
  async getByKey<E extends AnyEntity>(entity: E, key: Key): Promise<ItemOf<E> | undefined> {
    const [item] = await this.getAll([{ entity, key }])
    return item as ItemOf<E> | undefined
  }

  /** Writes everything or nothing. A single write needs no transaction, which costs half. Retries transaction conflicts. */
  async transact(writes: readonly Write[]): Promise<void> {
    const [first] = writes
    if (!first) return
    if (writes.length === 1 && first.kind !== 'check') return this.#single(first)
    const items = writes.map((write) => this.#input(write))
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#client.send(
          new TransactWriteCommand({
            TransactItems: writes.map((write, i) => ({ [OPERATION[write.kind]]: items[i] })) as never,
          }),
        )
        return
      } catch (error) {
        if (!isNamed(error, 'TransactionCanceledException')) throw error
        const reasons = (error as { CancellationReasons?: { Code?: string; Item?: Record<string, unknown> }[] })
          .CancellationReasons
        const failed = reasons?.findIndex((reason) => reason.Code === 'ConditionalCheckFailed') ?? -1
        if (failed >= 0) throw conditionError(writes[failed] as Write, reasons?.[failed]?.Item)
        const transient = reasons?.some((reason) => TRANSIENT.has(reason.Code ?? ''))
        if (!transient || attempt >= 14) throw error
        await backoff(attempt)
      }
    }
  }

  /** Changes an item and returns its new or old state. */
  async change<T extends object>(write: Write, answer: 'new' | 'old' = 'new'): Promise<T | undefined> {
    const input = this.#input(write)
    try {
      const { Attributes } = await this.#client.send(
        write.kind === 'delete'
          ? new DeleteCommand({ ...input, ReturnValues: 'ALL_OLD' } as never)
          : new UpdateCommand({ ...input, ReturnValues: answer === 'new' ? 'ALL_NEW' : 'ALL_OLD' } as never),
      )
      return Attributes ? (withoutTableAttributes(Attributes) as T) : undefined
    } catch (error) {
      if (answer === 'new' && wasOurs(write, error)) return itemOfError(error) as T
      throw singleError(write, error)
    }
  }

  async #single(write: Write): Promise<void> {
    const input = this.#input(write) as never
    for (let attempt = 0; ; attempt++) {
      try {
        if (write.kind === 'put') await this.#client.send(new PutCommand(input))
        else if (write.kind === 'delete') await this.#client.send(new DeleteCommand(input))
        else await this.#client.send(new UpdateCommand(input))
        return
      } catch (error) {
        if (wasOurs(write, error)) return
        // A plain write can conflict with a transaction on the same item.
        if (!isNamed(error, 'TransactionConflictException') || attempt >= 14) throw singleError(write, error)
        await backoff(attempt)
      }
    }
  }

  #input(write: Write): Record<string, unknown> {
    const expressions = new Expressions()
    const condition = expressions.condition(write.where)
    const base = {
      TableName: this.#nameOf(write.entity),
      ...(condition && { ConditionExpression: condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
    }
    if (write.kind === 'put') {
      const item = write.item ?? {}
      const Item = { ...item, ...itemAttributes(write.entity, write.key, item, this) }
      if (this.#check) {
        write.entity.schema().parse(item)
        checkKeys(Item)
      }
      return { ...base, ...expressions.maps(), Item }
    }
    if (write.kind === 'update') {
      const changes = write.changes ?? {}
      const set = this.#set(write)
      if (this.#check) checkKeys(set)
      const update = expressions.update({ ...changes, set })
      return { ...base, Key: write.key, UpdateExpression: update, ...expressions.maps() }
    }
    return { ...base, Key: write.key, ...expressions.maps() }
  }

  /** Returns the fields that an update sets, with the index attributes derived from them. */
  #set(write: Write): Record<string, unknown> {
    const { set = {}, list } = write.changes ?? {}
    const due = write.entity.due && 'due_at' in set
    return {
      ...set,
      [TABLE_LAYOUT.entity]: write.entity.name,
      ...('expires_at' in set && expiryAttribute(write.entity, set, this)),
      ...(due && dueAttributes(write.entity, write.key, set.due_at as number | undefined, this.dueShards)),
      ...(list !== undefined && listAttributes(list)),
    }
  }

  /** Reads the records of stored keys in order. Skips records that were deleted. */
  async load<T extends object, P extends string, S extends string>(
    entity: Entity<T, P, S>,
    keys: Record<string, unknown>[],
  ): Promise<T[]> {
    const refs = keys.map((item) => ({ entity, key: { pk: String(item.pk), sk: String(item.sk) } }))
    const items = (await this.getAll(refs)) as (T | undefined)[]
    return items.filter((item): item is T => item !== undefined)
  }

  /**
   * Reads a raw page of one partition of the table (`sk`) or of an index, which holds keys only. Internal to this layer.
   * @param of entity whose table is read. Default: the platform's table.
   */
  async page(
    index: IndexName | 'sk',
    partition: string,
    prefix: string | undefined,
    options: QueryOptions & { skipping?: Skipping },
    of?: AnyEntity,
  ): Promise<{ items: Record<string, unknown>[]; next: string | undefined }> {
    const { partitionKey, sortKey } =
      index === 'sk'
        ? { partitionKey: TABLE_LAYOUT.partitionKey, sortKey: TABLE_LAYOUT.sortKey }
        : TABLE_LAYOUT.indexes[index]
    const { limit, after, ascending = false, skipping } = options
    const [low, high] = bounds(prefix, options)
    const from = ascending && after !== undefined ? after : low
    const to = !ascending && after !== undefined ? after : high
    const ranged = from !== undefined && to !== undefined
    // DynamoDB rejects an empty range instead of returning nothing.
    if (ranged && from > to) return { items: [], next: undefined }
    if (this.#check) for (const bound of [from, to]) checkKeys({ [partitionKey]: partition, [sortKey]: bound })
    const input: QueryCommandInput = {
      TableName: this.#nameOf(of),
      ...(index === 'sk' ? { ConsistentRead: options.consistent ?? true } : { IndexName: index }),
      KeyConditionExpression:
        `#p = :p` +
        (ranged
          ? ' AND #s BETWEEN :f AND :t'
          : from !== undefined
            ? ' AND #s >= :f'
            : to !== undefined
              ? ' AND #s <= :t'
              : ''),
      ExpressionAttributeNames: { '#p': partitionKey, ...((from ?? to) !== undefined && { '#s': sortKey }) },
      ExpressionAttributeValues: {
        ':p': partition,
        ...(from !== undefined && { ':f': from }),
        ...(to !== undefined && { ':t': to }),
      },
      ScanIndexForward: ascending,
    }
    // The bound is inclusive, so the last item of the previous page comes first again and is dropped.
    const wanted = limit + 1 + (after === undefined ? 0 : 1)
    const most = wanted + (skipping?.atMost ?? 0)
    const items: Record<string, unknown>[] = []
    let read = 0
    let start: Record<string, unknown> | undefined
    do {
      // Past skipped items, each query reads as many as all before it, so that thousands take a few round trips.
      const size = skipping ? Math.min(Math.max(wanted, read), most - read) : wanted - items.length
      const page = await this.#client.send(
        new QueryCommand({ ...input, Limit: size, ...(start && { ExclusiveStartKey: start }) }),
      )
      const found = page.Items ?? []
      read += found.length
      items.push(...(skipping ? found.filter((item) => !skipping.skips(item)) : found))
      start = page.LastEvaluatedKey
    } while (start && items.length < wanted && read < most)
    const fresh = after === undefined ? items : items.filter((item) => item[sortKey] !== after)
    const shown = fresh.slice(0, limit)
    return { items: shown, next: fresh.length > limit ? String(shown.at(-1)?.[sortKey]) : undefined }
  }
}

const OPERATION = { put: 'Put', update: 'Update', delete: 'Delete', check: 'ConditionCheck' } as const
const TRANSIENT = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name

/** Returns the bounds of the sort key: the caller's, or those of the entity's prefix. */
const bounds = (prefix: string | undefined, { from, to }: QueryOptions): [string | undefined, string | undefined] => [
  from ?? prefix,
  to ?? (prefix === undefined ? undefined : `${prefix}\u{10FFFF}`),
]

/** Returns the error of a failed condition. Errors carry items in wire form, because the document client converts only outputs. */
const conditionError = (write: Write, raw: Record<string, unknown> | undefined): unknown => {
  const current = raw && withoutTableAttributes(unmarshall(raw as never))
  return write.otherwise?.(current as never) ?? new ConditionFailed(write, current)
}

/**
 * Returns true if a failed condition was caused by our own first attempt. The SDK retries a write whose response was
 * lost, and the retry then fails the write's own condition. The write succeeded if the item equals what we wrote.
 * Transactions carry a token for this, but single writes don't.
 */
const wasOurs = (write: Write, error: unknown): boolean => {
  if (!isNamed(error, 'ConditionalCheckFailedException')) return false
  const { $metadata } = error as { $metadata?: { attempts?: number } }
  const current = itemOfError(error)
  if (($metadata?.attempts ?? 1) < 2 || !current) return false
  const written =
    write.kind === 'put' ? write.item : write.changes?.add || write.changes?.append ? undefined : write.changes?.set
  return (
    written !== undefined && Object.entries(written).every(([field, value]) => isDeepStrictEqual(current[field], value))
  )
}

/** Returns the item with which a condition failed. */
const itemOfError = (error: unknown): Record<string, unknown> | undefined => {
  const { Item } = error as { Item?: Record<string, unknown> }
  return Item && withoutTableAttributes(unmarshall(Item as never))
}

const singleError = (write: Write, error: unknown): unknown =>
  isNamed(error, 'ConditionalCheckFailedException')
    ? conditionError(write, (error as { Item?: Record<string, unknown> }).Item)
    : error
