import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { type Item, type Names, parseCondition, parseUpdate, type Values } from './expressions.ts'
import type { StoreUse } from './side.ts'

interface Operation {
  Key?: Item
  Item?: Item
  ConditionExpression?: string
  UpdateExpression?: string
  ExpressionAttributeNames?: Names
  ExpressionAttributeValues?: Values
  ReturnValuesOnConditionCheckFailure?: string
  ReturnValues?: string
}

/**
 * One table in this process's memory behind the `send` of a document client: as little as a store can be, so that what
 * stands above it is measured. Conditions are evaluated, transactions are all or nothing. It takes what `Table` sends for
 * single items, batches and transactions; there are no indexes and no queries. Items are not copied when they are read:
 * a write makes a new one.
 */
export class MemoryTable {
  readonly use: StoreUse = { calls: 0, reads: 0, writes: 0 }
  readonly #items = new Map<string, Item>()

  /** What a `Table` is made with. */
  get client(): DynamoDBDocumentClient {
    return this as unknown as DynamoDBDocumentClient
  }

  clear(): void {
    this.#items.clear()
  }

  async send(command: unknown): Promise<object> {
    this.use.calls++
    if (command instanceof GetCommand) return { Item: this.#read(command.input.Key ?? {}) }
    if (command instanceof BatchGetCommand) return this.#batch(command.input.RequestItems ?? {})
    if (command instanceof PutCommand) return this.#single(command.input as Operation, put)
    if (command instanceof UpdateCommand) return this.#single(command.input as Operation, update)
    if (command instanceof DeleteCommand) return this.#single(command.input as Operation, remove)
    if (command instanceof TransactWriteCommand) return this.#transact((command.input.TransactItems ?? []) as never)
    throw new Error(`the table in memory has no ${(command as object).constructor.name}`)
  }

  #read(key: Item): Item | undefined {
    this.use.reads++
    return this.#items.get(slotOf(key))
  }

  #batch(requests: Record<string, { Keys?: Item[] | undefined }>): object {
    const Responses = Object.fromEntries(
      Object.entries(requests).map(([name, { Keys = [] }]) => [
        name,
        Keys.map((key) => this.#read(key)).filter((item) => item !== undefined),
      ]),
    )
    return { Responses }
  }

  #single(operation: Operation, apply: Apply): object {
    const slot = slotOf(operation.Key ?? operation.Item ?? {})
    const before = this.#items.get(slot)
    if (!holds(operation, before)) {
      const failure = { name: 'ConditionalCheckFailedException', ...itemOf(operation, before) }
      throw Object.assign(new Error('The conditional request failed'), failure)
    }
    const after = this.#write(slot, apply(operation, before))
    const Attributes = { ALL_NEW: after, ALL_OLD: before }[operation.ReturnValues ?? '']
    return Attributes ? { Attributes } : {}
  }

  #transact(items: Record<keyof typeof APPLY, Operation>[]): object {
    const changes = items.map((item) => {
      const [kind, operation] = Object.entries(item)[0] as [keyof typeof APPLY, Operation]
      const slot = slotOf(operation.Key ?? operation.Item ?? {})
      const before = this.#items.get(slot)
      return { operation, slot, before, apply: APPLY[kind], held: holds(operation, before) }
    })
    if (changes.some(({ held }) => !held)) {
      const CancellationReasons = changes.map(({ held, operation, before }) =>
        held ? { Code: 'None' } : { Code: 'ConditionalCheckFailed', ...itemOf(operation, before) },
      )
      const failure = { name: 'TransactionCanceledException', CancellationReasons }
      throw Object.assign(new Error('Transaction cancelled'), failure)
    }
    for (const { slot, apply, operation, before } of changes) this.#write(slot, apply(operation, before))
    return {}
  }

  #write(slot: string, item: Item | undefined): Item | undefined {
    this.use.writes++
    if (item) this.#items.set(slot, item)
    else this.#items.delete(slot)
    return item
  }
}

const slotOf = ({ pk, sk }: Item): string => `${pk}\n${sk}`

const holds = (operation: Operation, item: Item | undefined): boolean =>
  operation.ConditionExpression === undefined ||
  parseCondition(operation.ConditionExpression)(
    item ?? {},
    operation.ExpressionAttributeNames ?? {},
    operation.ExpressionAttributeValues ?? {},
  )

/** Errors carry items in the wire form: the document client converts answers only. */
const itemOf = (operation: Operation, item: Item | undefined): object =>
  item && operation.ReturnValuesOnConditionCheckFailure === 'ALL_OLD'
    ? { Item: marshall(item, { removeUndefinedValues: true }) }
    : {}

/** The item after an operation; undefined when there is none. */
type Apply = (operation: Operation, before: Item | undefined) => Item | undefined

const put: Apply = ({ Item = {} }) => {
  const kept: Item = {}
  for (const name of Object.keys(Item)) if (Item[name] !== undefined) kept[name] = Item[name]
  return kept
}

const update: Apply = (operation, before) =>
  parseUpdate(operation.UpdateExpression ?? '')(
    before ?? { ...operation.Key },
    operation.ExpressionAttributeNames ?? {},
    operation.ExpressionAttributeValues ?? {},
  )

const remove: Apply = () => undefined
const check: Apply = (_, before) => before

const APPLY = { Put: put, Update: update, Delete: remove, ConditionCheck: check }
