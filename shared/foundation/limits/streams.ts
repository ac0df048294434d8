import { DAY } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { Deps } from '../work/work.ts'
import { OpenStreamsEntity } from './entity.ts'
import { rateLimited } from './rate-limited.ts'

/**
 * A stream occupies a function for minutes, even after its reader has disconnected, because the function isn't notified.
 * So each caller has a few streams, and opening one more ends the oldest. A reader that is still connected loses
 * nothing: it reconnects and resumes.
 */

type Limited = Pick<Deps, 'table' | 'clock'>

/**
 * Adds a stream to the caller's open streams and drops the oldest beyond the limit.
 * @throws `rate_limited` if this caller keeps opening and closing streams at the same time
 */
export const openStream = (deps: Limited, caller: string, stream: string): Promise<void> =>
  change(deps, caller, (open) => [...open, stream].slice(-LIMITS.streamsPerCaller))

export const closeStream = (deps: Limited, caller: string, stream: string): Promise<void> =>
  change(deps, caller, (open) => open.filter((id) => id !== stream))

export const isStreamOpen = async ({ table }: Pick<Deps, 'table'>, caller: string, stream: string): Promise<boolean> =>
  (await table.get(OpenStreamsEntity, { caller }))?.open.includes(stream) ?? false

const change = (
  { table, clock }: Limited,
  caller: string,
  next: (open: readonly string[]) => string[],
): Promise<void> =>
  retryOnConflict(
    async () => {
      const current = await table.get(OpenStreamsEntity, { caller })
      const record = { caller, open: next(current?.open ?? []), expires_at: clock.now() + DAY }
      await table.transact([OpenStreamsEntity.replace(record, { where: { open: current ? current.open : missing } })])
    },
    (cause) => rateLimited('stream', 1, { cause }),
  )
