import { FileEntity, type FileRecord, type LooseObject, LooseObjectEntity } from '../../entities/files.ts'
import { MINUTE } from '../../kernel/clock.ts'
import type { Guard, Write } from '../../table/entity.ts'
import { exists } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'
import { removeLoose } from './loose.ts'
import { loadFile, noFile } from './read.ts'

/**
 * Deletes a file: for everybody at once, its object right after that. Whatever fails from there on, and what an address
 * that was given for its upload could still bring, is removed by the sweep; only then it counts no more in the quota.
 * @throws `not_found`, also for the second of two at once
 */
export const deleteFile = async (work: Work, workspaceId: string, id: string): Promise<void> => {
  const file = await loadFile(work, workspaceId, id)
  const loose = await releaseFile(work, file, { where: { id: exists }, otherwise: noFile })
  try {
    await removeLoose(work, loose)
  } catch (error) {
    work.log.warn('a deleted file’s object is left to the sweep', { file_id: id, error })
  }
}

/** Takes the record away and leaves the mark by which its object is found. @returns the mark */
export const releaseFile = async (work: Work, file: FileRecord, guard: Guard<FileRecord>): Promise<LooseObject> => {
  const { loose, writes } = releasing(work, file, guard)
  await work.commit(writes)
  return loose
}

/** The same for a transaction of more. */
export const releasing = (
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
