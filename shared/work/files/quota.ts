import { CounterEntity } from '#shared/foundation/claims/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, lte, missing } from '#shared/table/expressions.ts'

/** Key of the counter of a workspace's files, including deleted ones whose object still exists. */
export const countOfFiles = (workspaceId: string) => ({ owner: workspaceId, counter: 'files' })

const bytesOf = (workspaceId: string) => ({ owner: workspaceId, counter: 'file-bytes' })

/**
 * Writes that take a file's place in its workspace's quota, exact under any concurrency. They belong in the transaction
 * that creates the file or its mark. A pending upload counts with its announced size. A sandbox costs its developer
 * nothing, so its quota is small.
 */
export const reserveQuota = (workspaceId: string, isSandbox: boolean, size: number): Write[] => [
  take(countOfFiles(workspaceId), 1, LIMITS.filesPerWorkspace, 'files'),
  take(
    bytesOf(workspaceId),
    size,
    isSandbox ? LIMITS.fileBytesPerSandbox : LIMITS.fileBytesPerWorkspace,
    'bytes of files',
  ),
]

const take = (counter: ReturnType<typeof countOfFiles>, n: number, limit: number, what: string): Write =>
  CounterEntity.upsert(
    counter,
    { set: counter, add: { n } },
    {
      where: { n: either(missing, lte(limit - n)) },
      // Not 413: the request itself isn't too large. It would succeed if fewer files were stored.
      otherwise: (current) =>
        fail('forbidden', {
          message: `The workspace has ${current?.n ?? 0} ${what}; the maximum is ${limit}.`,
          fix: 'Delete files that are no longer needed, then send the request again with a new Idempotency-Key.',
          details: { limit, used: current?.n ?? 0 },
        }),
    },
  )

/** Writes that return the quota, for the transaction that removes the mark. */
export const releaseQuota = (workspaceId: string, size: number): Write[] => [
  CounterEntity.update(countOfFiles(workspaceId), { add: { n: -1 } }),
  CounterEntity.update(bytesOf(workspaceId), { add: { n: -size } }),
]
