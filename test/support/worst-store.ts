import { TABLE_LAYOUT } from '#shared/table/layout.ts'
import type { Dice } from './dice.ts'
import type { TestPlatform } from './platform.ts'

type Items = Record<string, unknown>[]

const fault = (name: string, more: object = {}): Error =>
  Object.assign(new Error(`the store: ${name}`), { name, ...more })

/**
 * The store as it is at its worst, behind the SDK's own retries: throttles, transactions that meet others, answers that are
 * lost, and an index of what is due that hides what was written and shows what is gone.
 * @returns what was done so far, and the switch; it begins switched off
 */
export const worstStore = ({ store }: TestPlatform, roll: Dice) => {
  const counts = { throttles: 0, conflicts: 0, lost: 0, hidden: 0, ghosts: 0 }
  /** In late weather the index shows what is gone, and nothing else is wrong. */
  const weather = { is: 'good' as 'good' | 'late' | 'bad', counts }
  /** What each shard of the index showed last. */
  const shown = new Map<string, Items>()
  const hidden = new Set<string>()

  /** @throws what comes instead of an answer, with nothing done */
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
    // Each of them, since only few are gone between two looks.
    const ghosts = (shown.get(shard) ?? []).filter(({ pk, sk }) => !items.some((one) => one.pk === pk && one.sk === sk))
    // Hidden once at most: an index is seconds behind, and the next sweep comes a minute later.
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
