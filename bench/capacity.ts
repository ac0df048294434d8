/**
 * DynamoDB's capacity rules, applied to real items: what each request would consume in an on-demand table. The local
 * store counts transactions and batches otherwise, so its own figures are not used.
 *
 * Rules: "DynamoDB item sizes and formats", "DynamoDB read and write operations", "Using global secondary indexes" and
 * "Amazon DynamoDB Transactions" of the DynamoDB developer guide.
 */

const READ_BLOCK = 4_096
const WRITE_BLOCK = 1_024
/** A list or a map, whatever is in it, and each of its elements. */
const CONTAINER = 3
const ELEMENT = 1

/** An item or a part of it, as the document client takes and gives it. */
export type Item = Record<string, unknown>

/** A keys-only global index: the two attributes that make its key. */
export interface KeysOnlyIndex {
  partitionKey: string
  sortKey: string
}

/** Bytes of an item: names and values of all its attributes. */
export const itemSize = (item: Item): number =>
  Object.entries(item)
    .filter(([, value]) => value !== undefined)
    .reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value), 0)

/** Bytes of one value without its name. */
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

/** One byte per two significant digits and one more; a minus sign takes another. */
const numberSize = (text: string): number => {
  const digits = (text.toLowerCase().split('e')[0] ?? '').replaceAll(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '')
  return Math.ceil(digits.length / 2) + 1 + (text.startsWith('-') ? 1 : 0)
}

const readBlocks = (bytes: number): number => Math.max(1, Math.ceil(bytes / READ_BLOCK))
const writeBlocks = (bytes: number): number => Math.max(1, Math.ceil(bytes / WRITE_BLOCK))

/** Read units of one item got by its key, alone or in a batch (each item is rounded by itself; a missing one counts, too). */
export const getUnits = (item: Item | undefined, consistent: boolean): number =>
  readBlocks(item ? itemSize(item) : 0) * (consistent ? 1 : 0.5)

/** Read units of a query: the sizes of all items read are summed up before rounding. */
export const queryUnits = (items: readonly Item[], consistent: boolean): number =>
  readBlocks(items.reduce((sum, item) => sum + itemSize(item), 0)) * (consistent ? 1 : 0.5)

/**
 * Write units of a change of one item in the table itself: by the larger of its two forms; in a transaction twice that.
 * A write whose condition failed, and a condition check, count as if the item had been written as it is.
 */
export const writeUnits = (before: Item | undefined, after: Item | undefined, transactional: boolean): number => {
  const larger = Math.max(before ? itemSize(before) : 0, after ? itemSize(after) : 0)
  return writeBlocks(larger) * (transactional ? 2 : 1)
}

/**
 * Write units of a change in the table's keys-only indexes, to which it spreads by itself, outside of any transaction:
 * one for an entry that comes or goes, two for one that moves, none while its key stays.
 * @param tableKeys the names of the table's own key attributes, which every entry holds
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

/** What an index holds of an item; nothing unless the item has both attributes of its key. */
const entryOf = (item: Item | undefined, tableKeys: readonly string[], index: KeysOnlyIndex): Item | undefined => {
  if (item?.[index.partitionKey] === undefined || item[index.sortKey] === undefined) return undefined
  const names = new Set([...tableKeys, index.partitionKey, index.sortKey])
  return Object.fromEntries([...names].map((name) => [name, item[name]]))
}

const sameKey = (a: Item, b: Item, { partitionKey, sortKey }: KeysOnlyIndex): boolean =>
  a[partitionKey] === b[partitionKey] && a[sortKey] === b[sortKey]
