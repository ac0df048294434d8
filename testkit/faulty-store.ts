import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import type { Dice } from './dice.ts'
import type { TestPlatform } from './platform.ts'

type Items = Record<string, unknown>[]

const fault = (name: string, more: object = {}): Error =>
  Object.assign(new Error(`the store: ${name}`), { name, ...more })

/**
 * Simulates the store at its worst, behind the SDK's retries: throttles, transaction conflicts, lost answers, and a due index that
 * hides new records and shows deleted ones.
 * @returns counts of the faults so far, and the switch, which is off at first
 */
export const faultyStore = ({ store }: TestPlatform, roll: Dice) => {
  const counts = { throttles: 0, conflicts: 0, lost: 0, hidden: 0, ghosts: 0 }
  /** In late weather, the index shows deleted records, and nothing else is wrong. */
  const weather = { is: 'good' as 'good' | 'late' | 'bad', counts }
  /** Last result of each shard of the index. */
  const shown = new Map<string, Items>()
  const hidden = new Set<string>()

  /** Refuses a call without effect. @throws the error that replaces the answer */
  const refuse = (input: Record<string, unknown>): void => {
    if (roll.chance(0.03)) {
      counts.throttles += 1
      throw fault('ThrottlingException')
    }
    const transaction = input.TransactItems as unknown[] | undefined
    const writes = transaction ?? (input.UpdateExpression !== undefined || input.Item !== undefined)
    if (!writes || !roll.chance(0.15)) return
    counts.conflicts += 1
    if (!transaction) throw fault('TransactionConflictException')
    throw fault('TransactionCanceledException', {
      CancellationReasons: transaction.map((_, i) => ({ Code: i === 0 ? 'TransactionConflict' : 'None' })),
    })
  }

  const lag = (input: Record<string, unknown>, output: { Items?: Items }): void => {
    const items = output.Items
    if (input.IndexName !== 'due' || !items) return
    const shard = String((input.ExpressionAttributeValues as Record<string, unknown>)[':p'])
    // Shows all of them, because only few are deleted between two reads.
    const ghosts = (shown.get(shard) ?? []).filter(({ pk, sk }) => !items.some((one) => one.pk === pk && one.sk === sk))
    // Hides each record at most once: an index lags by seconds, and the next sweep comes later.
    const kept = items.filter(({ pk, sk, [TABLE_LAYOUT.indexes.due.sortKey]: at }) => {
      const entry = `${pk} ${sk} ${at}`
      if (weather.is !== 'bad' || hidden.has(entry)) return true
      hidden.add(entry)
      return false
    })
    counts.hidden += items.length - kept.length
    counts.ghosts += ghosts.length
    shown.set(shard, items)
    output.Items = [...ghosts, ...kept]
  }

  store.client.middlewareStack.add(
    (next) => async (args) => {
      const { is } = weather
      if (is === 'good') return next(args)
      const input = args.input as unknown as Record<string, unknown>
      if (is === 'bad') refuse(input)
      const result = await next(args)
      if (is === 'bad' && roll.chance(0.03)) {
        counts.lost += 1
        throw fault('TimeoutError')
      }
      lag(input, result.output as { Items?: Items })
      return result
    },
    { step: 'initialize', priority: 'low', name: 'worst-store' },
  )
  return weather
}
