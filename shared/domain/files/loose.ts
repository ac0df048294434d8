import { type LooseObject, LooseObjectEntity } from '../../entities/files.ts'
import { HOUR } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ifUnchanged, type Key } from '../../table/entity.ts'
import { exists } from '../../table/expressions.ts'
import type { Work, WorkerWork } from '../deps.ts'
import { giveBackQuota } from './quota.ts'

/** In ms. A mark is looked at when no request under the same Idempotency-Key can come to finish what it stands for. */
export const MARK_LIFE = LIMITS.idempotencyLife + HOUR

/** Where a file's content lies. The id alone is never given to anybody as a key: addresses are signed for one object. */
export const objectOf = (workspace_id: string, file_id: string): string => `files/${workspace_id}/${file_id}`

/**
 * Removes an object that no file owns, and gives its place in the quota back, once: the mark goes in the transaction of
 * the counters. Until `due_at` an upload may still come, so the mark stays, and the sweep looks again.
 */
export const removeLoose = async (
  work: Pick<Work, 'objects' | 'clock' | 'commit'>,
  { workspace_id, file_id, size, due_at }: LooseObject,
): Promise<void> => {
  await work.objects.delete(objectOf(workspace_id, file_id))
  if (due_at > work.clock.now()) return
  // Or somebody else has removed it.
  await ifUnchanged(
    work.commit([
      LooseObjectEntity.delete({ workspace_id, file_id }, { where: { file_id: exists } }),
      ...giveBackQuota(workspace_id, size),
    ]),
  )
}

/** What the sweep does about an object that nobody owns and nobody removed. */
export const handleOverdueLooseObject = async (work: WorkerWork, key: Key): Promise<void> => {
  const loose = await work.table.getByKey(LooseObjectEntity, key)
  if (loose && loose.due_at <= work.clock.now()) await removeLoose(work, loose)
}
