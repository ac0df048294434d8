import type { Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import type { Guard, Write } from '#shared/table/entity.ts'
import { exists, missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { FileEntity, type FileRecord, type LooseObject, LooseObjectEntity } from './entity.ts'
import { removeLoose } from './loose.ts'
import { fileNotFound, loadFile } from './read.ts'

/**
 * Deletes a file: the record at once, the object right after. If deleting the object fails, or an upload address could
 * still store one, the sweeper removes it. Only then its quota is returned.
 * @throws `not_found`, also for the second of two concurrent deletions
 */
export const deleteFile = async (work: Work, workspaceId: string, id: string): Promise<void> => {
  const loose = await retryOnConflict(async () => {
    const file = await loadFile(work, workspaceId, id)
    // A new upload address would outlive the mark of a file that was read before.
    const where = { id: exists, upload_until: file.upload_until ?? missing }
    const otherwise = (current: FileRecord | undefined) => (current ? undefined : fileNotFound())
    return releaseFile(work, file, { where, otherwise })
  })
  try {
    await removeLoose(work, loose)
  } catch (error) {
    work.log.warn('could not delete the object of a deleted file; the sweeper retries', { file_id: id, error })
  }
}

/** Deletes the record and leaves a mark for its object. @returns the mark */
export const releaseFile = async (work: Work, file: FileRecord, guard: Guard<FileRecord>): Promise<LooseObject> => {
  const { loose, writes } = releaseFileWrites(work, file, guard)
  await work.commit(writes)
  return loose
}

/** Returns the writes of {@link releaseFile}, for a larger transaction. */
export const releaseFileWrites = (
  work: Pick<Work, 'clock'>,
  file: FileRecord,
  guard: Guard<FileRecord>,
): { loose: LooseObject; writes: Write[] } => {
  const now = work.clock.now()
  const { workspace_id, id, size, upload_until = 0 } = file
  const uploadable = upload_until > now
  const mark = { workspace_id, file_id: id, size, due_at: uploadable ? upload_until : now + MINUTE }
  return {
    loose: uploadable ? mark : { ...mark, due_at: now },
    writes: [FileEntity.delete(file, guard), LooseObjectEntity.create(mark)],
  }
}
