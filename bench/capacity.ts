/**
 * Applies DynamoDB's capacity rules to real items, to compute what each request would consume in an on-demand table. The local
 * store counts transactions and batches differently, so its own numbers aren't used.
 *
 * Rules: "DynamoDB item sizes and formats", "DynamoDB read and write operations", "Using global secondary indexes" and
 * "Amazon DynamoDB Transactions" of the DynamoDB developer guide.
 */

const READ_BLOCK = 4_096
const WRITE_BLOCK = 1_024
/** Bytes of overhead of a list or a map. */
const CONTAINER = 3
const ELEMENT = 1

/** Item or part of an item, in the document client's form. */
export type Item = Record<string, unknown>

/** Keys-only global index, given by the two attributes of its key. */
export interface KeysOnlyIndex {
  partitionKey: string
  sortKey: string
}

/** Returns the bytes of an item: names and values of all its attributes. */
export const itemSize = (item: Item): number =>
  Object.entries(item)
    .filter(([, value]) => value !== undefined)
    .reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value), 0)

/** Returns the bytes of one value without its name. */
export const valueSize = (value: unknown): number => {
  if (value === null || typeof value === 'boolean') return 1
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'number' || typeof value === 'bigint') return numberSize(String(value))
  if (value instanceof Uint8Array) return value.byteLength
  if (value instanceof Set) return [...value].reduce((sum: number, one) => sum + valueSize(one), 0)
  if (Array.isArray(value)) {
    return CONTAINER + value.reduce((sum: number, one) => sum + ELEMENT + valueSize(one), 0)
  }
  if (typeof value === 'object') {
    const defined = Object.entries(value).filter(([, one]) => one !== undefined)
    return CONTAINER + defined.reduce((sum, [name, one]) => sum + ELEMENT + Buffer.byteLength(name) + valueSize(one), 0)
  }
  throw new TypeError(`DynamoDB has no type for a ${typeof value}`)
}

/** Returns the bytes of a number: one per two significant digits, one more, and one for a minus sign. */
const numberSize = (text: string): number => {
  const digits = (text.toLowerCase().split('e')[0] ?? '').replaceAll(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '')
  return Math.ceil(digits.length / 2) + 1 + (text.startsWith('-') ? 1 : 0)
}

const readBlocks = (bytes: number): number => Math.max(1, Math.ceil(bytes / READ_BLOCK))
const writeBlocks = (bytes: number): number => Math.max(1, Math.ceil(bytes / WRITE_BLOCK))

/** Returns the read units of one item read by its key, alone or in a batch. Each item is rounded up, and a missing one counts too. */
export const getUnits = (item: Item | undefined, consistent: boolean): number =>
  readBlocks(item ? itemSize(item) : 0) * (consistent ? 1 : 0.5)

/** Returns the read units of a query. The sizes of all items are added before rounding. */
export const queryUnits = (items: readonly Item[], consistent: boolean): number =>
  readBlocks(items.reduce((sum, item) => sum + itemSize(item), 0)) * (consistent ? 1 : 0.5)

/**
 * Returns the write units of changing one item in the table: by the larger of its two forms, and twice that in a transaction.
 * Failed conditional writes and condition checks count like a write of the unchanged item.
 */
export const writeUnits = (before: Item | undefined, after: Item | undefined, transactional: boolean): number => {
  const larger = Math.max(before ? itemSize(before) : 0, after ? itemSize(after) : 0)
  return writeBlocks(larger) * (transactional ? 2 : 1)
}

/**
 * Returns the write units of a change in the table's keys-only indexes, which DynamoDB updates outside the transaction: one for a
 * new or removed entry, two for one that moves, none if its key stays.
 * @param tableKeys names of the table's key attributes, which every entry contains
 */
export const indexUnits = (
  before: Item | undefined,
  after: Item | undefined,
  tableKeys: readonly string[],
  indexes: readonly KeysOnlyIndex[],
): number =>
  indexes.reduce((sum, index) => {
    const [old, fresh] = [entryOf(before, tableKeys, index), entryOf(after, tableKeys, index)]
    if (old && fresh && sameKey(old, fresh, index)) return sum
    return sum + (old ? writeBlocks(itemSize(old)) : 0) + (fresh ? writeBlocks(itemSize(fresh)) : 0)
  }, 0)

/** Returns an item's index entry, or nothing unless the item has both attributes of the index key. */
const entryOf = (item: Item | undefined, tableKeys: readonly string[], index: KeysOnlyIndex): Item | undefined => {
  if (item?.[index.partitionKey] === undefined || item[index.sortKey] === undefined) return undefined
  const names = new Set([...tableKeys, index.partitionKey, index.sortKey])
  return Object.fromEntries([...names].map((name) => [name, item[name]]))
}

const sameKey = (a: Item, b: Item, { partitionKey, sortKey }: KeysOnlyIndex): boolean =>
  a[partitionKey] === b[partitionKey] && a[sortKey] === b[sortKey]
