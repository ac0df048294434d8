import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { ConditionFailed, type Key } from '#shared/table/entity.ts'
import { FileEntity } from './entity.ts'
import { removeLoose } from './loose.ts'
import { isUploaded, markReady } from './read.ts'
import { releaseFile } from './remove.ts'

/**
 * Handles an upload that hasn't been found within 24 hours, for the sweeper: checks for it again and removes the file if
 * it never arrived. The upload address has expired by then.
 */
export const handleOverdueFile = async (work: WorkerWork, key: Key): Promise<void> => {
  const file = await work.table.getByKey(FileEntity, key)
  if (file?.due_at === undefined || file.due_at > work.clock.now()) return
  try {
    if (await isUploaded(work, file)) await work.commit([markReady(file)])
    else await removeLoose(work, await releaseFile(work, file, { where: { status: 'pending' } }))
  } catch (error) {
    // A concurrent read or deletion won.
    if (!(error instanceof ConditionFailed)) throw error
  }
}
