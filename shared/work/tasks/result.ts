import { type StoredPayload, serializePayload } from '#shared/foundation/payloads/index.ts'
import type { Deps, Work, WorkerWork } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ifUnchanged, type Key, type Write } from '#shared/table/entity.ts'
import { exists } from '#shared/table/expressions.ts'
import { MARK_LIFE } from '../files/loose.ts'
import { LooseResultEntity, type Task } from './entity.ts'

/**
 * Stores a result's output: up to 16 KiB in the task's record, larger ones in the bucket. It isn't stored under
 * `payloads/`, where objects expire with the retention of runs, because a task stays. The writes attach the object to the
 * task. If they are never committed, the sweeper removes the object by its mark.
 * @throws `payload_too_large` over 1 MiB
 */
export const storeResult = async (
  work: Work,
  { id, workspace_id }: Task,
  output: unknown,
): Promise<{ output: StoredPayload; writes: Write[] }> => {
  const { json, bytes } = serializePayload(output, LIMITS.runPayloadBytes)
  if (bytes <= LIMITS.inlinePayloadBytes) return { output: { json }, writes: [] }
  // A key per attempt, so that concurrent reports don't overwrite each other's objects.
  const object = `tasks/${id}/${work.id('message')}`
  const mark = { workspace_id, object, due_at: work.clock.now() + MARK_LIFE }
  // An earlier attempt under this key may have written it.
  await ifUnchanged(work.commit([LooseResultEntity.create(mark)]))
  await work.objects.put(object, Buffer.from(json), 'application/json')
  const owned = LooseResultEntity.delete(mark, { where: { object: exists } })
  return { output: { object, bytes }, writes: [owned] }
}

/** Write that lets the sweeper remove the object of a task's result, after a delay for concurrent readers of the task. */
export const releaseResult = ({ clock }: Pick<Deps, 'clock'>, { workspace_id, result }: Task): Write[] => {
  const { output } = result ?? {}
  if (!output || !('object' in output)) return []
  return [LooseResultEntity.replace({ workspace_id, object: output.object, due_at: clock.now() + MINUTE })]
}

/** Removes an overdue object that isn't a task's result, for the sweeper. */
export const handleOverdueResult = async (work: WorkerWork, key: Key): Promise<void> => {
  const loose = await work.table.getByKey(LooseResultEntity, key)
  if (!loose || loose.due_at > work.clock.now()) return
  await work.objects.delete(loose.object)
  await work.commit([LooseResultEntity.delete(loose)])
}
