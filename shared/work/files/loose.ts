import type { Work, WorkerWork } from '#shared/foundation/work/index.ts'
import { HOUR } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ifUnchanged, type Key } from '#shared/table/entity.ts'
import { exists } from '#shared/table/expressions.ts'
import { type LooseObject, LooseObjectEntity, objectOf } from './entity.ts'
import { releaseQuota } from './quota.ts'

/** Lifetime of a mark, in ms: until no request under the same Idempotency-Key can complete the file any more. */
export const MARK_LIFE = LIMITS.idempotencyLife + HOUR

/**
 * Removes an object without a file and returns its quota, once, because one transaction deletes the mark and changes the
 * counters. Until `due_at` an upload may still arrive, so the mark stays and the sweeper tries again.
 */
export const removeLoose = async (
  work: Pick<Work, 'objects' | 'clock' | 'commit'>,
  { workspace_id, file_id, size, due_at }: LooseObject,
): Promise<void> => {
  await work.objects.delete(objectOf(workspace_id, file_id))
  if (due_at > work.clock.now()) return
  // Another worker may have removed it already.
  await ifUnchanged(
    work.commit([
      LooseObjectEntity.delete({ workspace_id, file_id }, { where: { file_id: exists } }),
      ...releaseQuota(workspace_id, size),
    ]),
  )
}

/** Removes an overdue object without a file, for the sweeper. */
export const handleOverdueLooseObject = async (work: WorkerWork, key: Key): Promise<void> => {
  const loose = await work.table.getByKey(LooseObjectEntity, key)
  if (loose && loose.due_at <= work.clock.now()) await removeLoose(work, loose)
}
