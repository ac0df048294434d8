import { OpenStreamsEntity } from '../../entities/platform.ts'
import { DAY } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { backoff } from '../../table/backoff.ts'
import { ConditionFailed } from '../../table/entity.ts'
import { missing } from '../../table/expressions.ts'
import type { Deps } from '../deps.ts'

/**
 * A stream occupies a function for minutes, also when its reader has long gone: nobody tells a function that. So a caller
 * has a few, and one more ends the oldest, which nobody misses if its reader is gone and which loses nothing otherwise:
 * its reader connects again and goes on.
 */

type Limited = Pick<Deps, 'table' | 'clock'>

/** @throws `rate_limited` when others of this caller open and close streams all the time */
export const openStream = (deps: Limited, caller: string, stream: string): Promise<void> =>
  change(deps, caller, (open) => [...open, stream].slice(-LIMITS.streamsPerCaller))

export const closeStream = (deps: Limited, caller: string, stream: string): Promise<void> =>
  change(deps, caller, (open) => open.filter((one) => one !== stream))

export const isOpen = async ({ table }: Pick<Deps, 'table'>, caller: string, stream: string): Promise<boolean> =>
  (await table.get(OpenStreamsEntity, { caller }))?.open.includes(stream) ?? false

const change = async (
  { table, clock }: Limited,
  caller: string,
  next: (open: readonly string[]) => string[],
): Promise<void> => {
  for (let tries = 0; ; tries++) {
    const current = await table.get(OpenStreamsEntity, { caller })
    const record = { caller, open: next(current?.open ?? []), expires_at: clock.now() + DAY }
    try {
      return await table.transact([
        OpenStreamsEntity.replace(record, { where: { open: current ? current.open : missing } }),
      ])
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (tries >= 9) throw fail('rate_limited', { cause: error, headers: { 'retry-after': '1' } })
      await backoff(tries)
    }
  }
}
