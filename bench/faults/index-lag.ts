import type { AwsCall } from '#local/platform.ts'
import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import type { Tally } from './tally.ts'

type Wire = Record<string, { S?: string }>
type Request = { Key?: Wire; Item?: Wire }

/** Makes the indexes lag behind the table. Those of the local store never lag. */
export interface IndexLag {
  /** Records a call that was done. */
  note(call: AwsCall): void
  /** @returns the lagging answer of a query, or undefined if the real answer should be used */
  shown(call: AwsCall): Record<string, unknown> | undefined
}

const { partitionKey, sortKey } = TABLE_LAYOUT
const keyOf = (item: Wire): string => `${item[partitionKey]?.S}\n${item[sortKey]?.S}`

/** Returns the writes of a call. */
const written = ({ operation, input }: AwsCall): Request[] => {
  if (operation === 'TransactWriteItems') {
    return (input.TransactItems as Record<string, Request>[]).flatMap((item) => Object.values(item))
  }
  return ['PutItem', 'UpdateItem', 'DeleteItem'].includes(operation) ? [input as Request] : []
}

/**
 * Hides recent writes from the indexes: new entries are left out, and old ones stay.
 * @param lagMs lag of the indexes
 */
export const createIndexLag = (lagMs: number, tally: Tally): IndexLag => {
  /** Times of writes by item, oldest first. */
  const writes = new Map<string, number>()
  /** Last result of each partition of an index. */
  const last = new Map<string, Wire[]>()

  const forget = (now: number) => {
    for (const [key, at] of writes) {
      if (now - at < lagMs) return
      writes.delete(key)
    }
  }

  return {
    note: (call) => {
      if (call.output && '__type' in call.output) return
      const now = performance.now()
      for (const request of written(call)) {
        const key = keyOf(request.Key ?? request.Item ?? {})
        writes.delete(key)
        writes.set(key, now)
      }
    },
    shown: ({ operation, input, output }) => {
      const items = output?.Items as Wire[] | undefined
      if (operation !== 'Query' || input.IndexName === undefined || !items) return undefined
      forget(performance.now())
      const isFresh = (item: Wire) => writes.has(keyOf(item))
      const place = JSON.stringify([input.IndexName, (input.ExpressionAttributeValues as Wire)[':p']])
      const known = items.filter((item) => !isFresh(item))
      const here = new Set(items.map(keyOf))
      // Only the due index may show old entries anywhere, because it is read from its beginning.
      const gone =
        input.IndexName === 'due'
          ? (last.get(place) ?? []).filter((item) => isFresh(item) && !here.has(keyOf(item)))
          : []
      if (input.IndexName === 'due') last.set(place, [...known, ...gone])
      if (known.length === items.length && gone.length === 0) return undefined
      if (known.length < items.length)
        tally.count('an index does not show yet what was written', items.length - known.length)
      if (gone.length > 0) tally.count('an index shows still what is gone', gone.length)
      return { ...output, Items: [...gone, ...known], Count: known.length + gone.length }
    },
  }
}
