import { AsyncLocalStorage } from 'node:async_hooks'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import { PlatformHourEntity } from '#shared/foundation/counters/entity.ts'
import { AuditDayEntity } from '#shared/staff/audit/index.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import { getUnits, type Item, indexUnits, itemSize, queryUnits, writeUnits } from '../capacity.ts'
import { type Interval, sequentialRoundTrips } from '../round-trips.ts'

/** Store use of some work. */
export interface Consumption {
  calls: number
  /** Sequential calls, without those that record audit entries: no one waits for the table's stream. */
  roundTrips: number
  readUnits: number
  writeUnits: number
  /** Write units on the due index, which all changes share. */
  dueUnits: number
  /** Write units on the platform's counters. */
  counterUnits: number
  /** Bytes added to the table, without its indexes. */
  storedBytes: number
}

/** One changed or checked item of a call. */
export interface ItemWrite {
  entity: string
  operation: string
  transactional: boolean
  itemUnits: number
  indexUnits: number
}

type Amounts = Omit<Consumption, 'calls' | 'roundTrips'>
type Call = Interval & Amounts & { writes: readonly ItemWrite[]; records: boolean }

export const AMOUNTS = ['readUnits', 'writeUnits', 'dueUnits', 'counterUnits', 'storedBytes'] as const

interface Change {
  key: Item
  operation: string
  transactional: boolean
}

type Stack = DynamoDBClient['middlewareStack']

const TABLE_KEYS = [TABLE_LAYOUT.partitionKey, TABLE_LAYOUT.sortKey]
const INDEXES = Object.values(TABLE_LAYOUT.indexes)
/** Start of the keys of the audit's chains. */
const [AUDIT_CHAINS = ''] = AuditDayEntity.key({ scope: '|', day: '|' }).pk.split('|')
const COUNTERS = new Set<unknown>([PlatformHourEntity.name])

/**
 * Measures the calls of a client. For every write it reads the item before and after with another client, because the cost of a
 * write depends on both.
 */
export class StoreMeter {
  readonly #own: DynamoDBDocumentClient
  readonly #tableName: string
  /** Attributes calls to the measured work through every await, so that concurrent work isn't counted. */
  readonly #current = new AsyncLocalStorage<Call[]>()

  /** @param stack middleware stack of the measured client, which its document client shares */
  constructor(stack: Stack, { endpoint, tableName }: { endpoint: string; tableName: string }) {
    const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' }
    this.#own = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: 'us-east-1', credentials }))
    this.#tableName = tableName
    stack.add(
      (next, context) => async (args) => {
        const calls = this.#current.getStore()
        if (!calls) return next(args)
        const start = performance.now()
        const input = args.input as Item
        // The test platform records audit entries at once. Only that touches the audit's chains.
        const records = JSON.stringify(input).includes(AUDIT_CHAINS)
        const changes = changesOf(context.commandName ?? '', input)
        const before = await this.#read(changes)
        try {
          const result = await next(args)
          const reads = readUnitsOf(context.commandName ?? '', input, result.output as unknown as Item)
          calls.push({ ...(await this.#callOf(start, changes, before, reads)), records })
          return result
        } catch (error) {
          calls.push({ ...(await this.#callOf(start, changes, before, 0)), records })
          throw error
        }
      },
      { step: 'initialize', priority: 'low', name: 'store-meter' },
    )
  }

  /** Measures the consumption of some work, and lists its writes in their order. */
  async during<T>(
    work: () => Promise<T>,
  ): Promise<{ result: T; consumption: Consumption; writes: readonly ItemWrite[] }> {
    const calls: Call[] = []
    const result = await this.#current.run(calls, work)
    return {
      result,
      consumption: {
        calls: calls.length,
        roundTrips: sequentialRoundTrips(calls.filter(({ records }) => !records)),
        ...sumOf(calls),
      },
      writes: calls.flatMap(({ writes }) => writes),
    }
  }

  close(): void {
    this.#own.destroy()
  }

  async #read(changes: readonly Change[]): Promise<(Item | undefined)[]> {
    return Promise.all(
      changes.map(async ({ key }) => {
        const { Item } = await this.#own.send(
          new GetCommand({ TableName: this.#tableName, Key: key, ConsistentRead: true }),
        )
        return Item
      }),
    )
  }

  async #callOf(
    start: number,
    changes: readonly Change[],
    before: (Item | undefined)[],
    readUnits: number,
  ): Promise<Omit<Call, 'records'>> {
    const after = await this.#read(changes)
    const amounts = changes.map((change, i) => amountsOf(change, before[i], after[i]))
    const writes = changes.map((change, i) => itemWriteOf(change, before[i], after[i]))
    return { start, end: performance.now(), ...sumOf([...amounts, { ...NONE, readUnits }]), writes }
  }
}

const NONE: Amounts = { readUnits: 0, writeUnits: 0, dueUnits: 0, counterUnits: 0, storedBytes: 0 }

const sumOf = (all: readonly Amounts[]): Amounts => {
  const sum = { ...NONE }
  for (const one of all) for (const name of AMOUNTS) sum[name] += one[name]
  return sum
}

const amountsOf = ({ transactional }: Change, before: Item | undefined, after: Item | undefined): Amounts => {
  const own = writeUnits(before, after, transactional)
  const size = (item: Item | undefined) => (item ? itemSize(item) : 0)
  return {
    readUnits: 0,
    writeUnits: own + indexUnits(before, after, TABLE_KEYS, INDEXES),
    dueUnits: indexUnits(before, after, TABLE_KEYS, [TABLE_LAYOUT.indexes.due]),
    counterUnits: COUNTERS.has((after ?? before)?.[TABLE_LAYOUT.entity]) ? own : 0,
    storedBytes: size(after) - size(before),
  }
}

const itemWriteOf = (
  { operation, transactional }: Change,
  before: Item | undefined,
  after: Item | undefined,
): ItemWrite => ({
  entity: String((after ?? before)?.[TABLE_LAYOUT.entity] ?? ''),
  operation,
  transactional,
  itemUnits: writeUnits(before, after, transactional),
  indexUnits: indexUnits(before, after, TABLE_KEYS, INDEXES),
})

const keyOf = (item: Item): Item => Object.fromEntries(TABLE_KEYS.map((name) => [name, item[name]]))

interface Operation {
  Item?: Item
  Key?: Item
}

/** Returns the items that a command changes, or checks inside a transaction. */
const changesOf = (command: string, input: Item): Change[] => {
  const one = (operation: string, { Item, Key }: Operation, transactional: boolean): Change => ({
    key: keyOf(Item ?? Key ?? {}),
    operation,
    transactional,
  })
  const [single] = /^(Put|Update|Delete)/.exec(command) ?? []
  if (single) return [one(single, input as Operation, false)]
  if (!command.startsWith('TransactWrite')) return []
  const items = (input.TransactItems ?? []) as Record<string, Operation>[]
  return items.flatMap((item) => Object.entries(item).map(([name, operation]) => one(name, operation, true)))
}

const readUnitsOf = (command: string, input: Item, output: Item): number => {
  if (command.startsWith('Get')) return getUnits(output.Item as Item | undefined, input.ConsistentRead === true)
  if (command.startsWith('Query')) return queryUnits((output.Items ?? []) as Item[], input.ConsistentRead === true)
  if (!command.startsWith('BatchGet')) return 0
  const requests = Object.entries(
    (input.RequestItems ?? {}) as Record<string, { Keys: Item[]; ConsistentRead?: boolean }>,
  )
  return requests.reduce((sum, [table, { Keys, ConsistentRead = false }]) => {
    const found = ((output.Responses as Record<string, Item[]>)[table] ?? []) as Item[]
    const missing = Keys.length - found.length
    const units = found.reduce((total, item) => total + getUnits(item, ConsistentRead), 0)
    return sum + units + missing * getUnits(undefined, ConsistentRead)
  }, 0)
}
