import { LooseResultEntity } from '../../entities/loose-results.ts'
import type { StoredPayload } from '../../entities/payload.ts'
import type { Task } from '../../entities/tasks.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ifUnchanged, type Key, type Write } from '../../table/entity.ts'
import { exists } from '../../table/expressions.ts'
import type { Deps, Work, WorkerWork } from '../deps.ts'
import { MARK_LIFE } from '../files/loose.ts'
import { textOf } from '../payloads.ts'
import { TaskMoved } from './change.ts'

/**
 * Keeps a result's output: in the task's record up to 16 KiB, above that in the bucket. Not under `payloads/`, whose objects
 * expire with the runs' retention: a task stays. The writes make the object the task's; where they are never committed, a mark is
 * left by which the sweep removes it.
 * @throws `payload_too_large` over 1 MiB
 */
export const storeResult = async (
  work: Work,
  { id, workspace_id }: Task,
  output: unknown,
): Promise<{ output: StoredPayload; writes: Write[] }> => {
  const { json, bytes } = textOf(output, LIMITS.runPayloadBytes)
  if (bytes <= LIMITS.inlinePayloadBytes) return { output: { json }, writes: [] }
  // A place of its own for each try: of two reports at once, neither overwrites what the other's record points to.
  const object = `tasks/${id}/${work.id('message')}`
  const mark = { workspace_id, object, due_at: work.clock.now() + MARK_LIFE }
  // Or the first try under this key got this far.
  await ifUnchanged(work.commit([LooseResultEntity.create(mark)]))
  await work.objects.put(object, Buffer.from(json), 'application/json')
  const owned = LooseResultEntity.delete(mark, { where: { object: exists }, otherwise: () => new TaskMoved() })
  return { output: { object, bytes }, writes: [owned] }
}

/** The write by which the sweep removes what a task's result has in the bucket: not before those have it who just read the task. */
export const releaseResult = ({ clock }: Pick<Deps, 'clock'>, { workspace_id, result }: Task): Write[] => {
  const { output } = result ?? {}
  if (!output || !('object' in output)) return []
  return [LooseResultEntity.replace({ workspace_id, object: output.object, due_at: clock.now() + MINUTE })]
}

/** What the sweep does about an object that is no task's result. */
export const handleOverdueResult = async (work: WorkerWork, key: Key): Promise<void> => {
  const loose = await work.table.getByKey(LooseResultEntity, key)
  if (!loose || loose.due_at > work.clock.now()) return
  await work.objects.delete(loose.object)
  await work.commit([LooseResultEntity.delete(loose)])
}
