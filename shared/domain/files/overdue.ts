import { FileEntity } from '../../entities/files.ts'
import { ConditionFailed, type Key } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { removeLoose } from './loose.ts'
import { becomesReady, hasArrived } from './read.ts'
import { releaseFile } from './remove.ts'

/**
 * What the sweep does about an upload that nobody saw in 24 hours: it looks itself, and removes what never came. The
 * address to upload to is dead by then.
 */
export const handleOverdueFile = async (work: WorkerWork, key: Key): Promise<void> => {
  const file = await work.table.getByKey(FileEntity, key)
  if (file?.due_at === undefined || file.due_at > work.clock.now()) return
  try {
    if (await hasArrived(work, file)) await work.commit([becomesReady(file)])
    else await removeLoose(work, await releaseFile(work, file, { where: { status: 'pending' } }))
  } catch (error) {
    // A read or a deletion was faster.
    if (!(error instanceof ConditionFailed)) throw error
  }
}
