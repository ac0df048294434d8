import { CounterEntity } from '../../entities/developers.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Write } from '../../table/entity.ts'
import { either, lte, missing } from '../../table/expressions.ts'

const countOf = (workspaceId: string) => ({ owner: workspaceId, counter: 'files' })
const bytesOf = (workspaceId: string) => ({ owner: workspaceId, counter: 'file-bytes' })

/**
 * Takes a file's place in its workspace's quota, exactly, under any concurrency: for the transaction that makes what
 * counts. A pending upload counts by the size that was announced.
 */
export const takeQuota = (workspaceId: string, size: number): Write[] => [
  take(countOf(workspaceId), 1, LIMITS.filesPerWorkspace, 'files'),
  take(bytesOf(workspaceId), size, LIMITS.fileBytesPerWorkspace, 'bytes of files'),
]

const take = (counter: ReturnType<typeof countOf>, n: number, limit: number, what: string): Write =>
  CounterEntity.upsert(
    counter,
    { set: counter, add: { n } },
    {
      where: { n: either(missing, lte(limit - n)) },
      // Not 413: this request is not too large, and with less there it would be taken.
      otherwise: (current) =>
        fail('forbidden', {
          message: `The organization may keep ${limit} ${what}, and has ${current?.n ?? 0}.`,
          fix: 'Delete files that are no longer needed, then send this again with a new Idempotency-Key.',
          details: { limit, used: current?.n ?? 0 },
        }),
    },
  )

/** Gives it back, for the transaction that removes what counted. */
export const giveBackQuota = (workspaceId: string, size: number): Write[] => [
  CounterEntity.update(countOf(workspaceId), { add: { n: -1 } }),
  CounterEntity.update(bytesOf(workspaceId), { add: { n: -size } }),
]
