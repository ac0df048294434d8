import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { ifUnchanged, Superseded } from '#shared/table/entity.ts'
import { askInput } from '#shared/work/questions/index.ts'
import {
  type Completion,
  changeRun,
  failRun,
  finishIf,
  isWaitingForInput,
  prepareSteps,
  type Run,
  requireActive,
  runWrite,
} from '#shared/work/runs/index.ts'
import { type OutsideTask, OutsideTaskEntity } from './entity.ts'
import { outputOf, type Reading, type ReadTask } from './task.ts'
import { wakeFollower } from './wake.ts'

/** Pauses between the checks of a task. */
const PAUSES = [2 * SECOND, 4 * SECOND, 8 * SECOND, 15 * SECOND]
const LONGEST_PAUSE = 30 * SECOND

/** Pause while a person is asked, or if the agent reports changes itself. The task may end during it. */
const QUIET_PAUSE = MINUTE

/** Time after a check was due at which the sweeper replaces a lost message. */
const NET = MINUTE

const pauseBefore = ({ checks, asked, answered, push }: OutsideTask): number =>
  asked !== answered || push !== undefined ? QUIET_PAUSE : (PAUSES[checks] ?? LONGEST_PAUSE)

/**
 * Applies what an outside agent answered. The first result of a run wins, as with any agent.
 * @param options.isNew whether it answers a message, and not a read
 */
export const applyReading = async (
  work: WorkerWork,
  run: Run,
  task: OutsideTask,
  reading: Reading,
  { isNew = false }: { isNew?: boolean } = {},
): Promise<void> => {
  try {
    await apply(work, run, task, reading, isNew)
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'too_many_steps') await failRun(work, run, error.code, error.message)
    else if (error.code !== 'run_already_finished') await failRun(work, run, 'agent_invalid_response', error.message)
    // The run has ended here, so the task is cancelled there.
    await goOn(work, run, task, {}, 0)
  }
}

const apply = async (
  work: WorkerWork,
  run: Run,
  task: OutsideTask,
  reading: Reading,
  isNew: boolean,
): Promise<void> => {
  switch (reading.kind) {
    case 'message':
      return end(work, run, task, succeeded(reading.text, [{ parts: reading.parts }]))
    case 'task':
      if (task.task_id === undefined || task.task_id === reading.task.id)
        return applyTask(work, run, task, reading.task)
      return failing(work, run, task, 'The agent answered with another task.')
    case 'refused':
      return isNew ? end(work, run, task, failed('agent_failed', reading.text)) : failing(work, run, task, reading.text)
    case 'invalid':
      // A task that is too large only grows, so it isn't read for 10 minutes first.
      if (reading.lasting) return breakOff(work, run, task, 'agent_invalid_response', reading.text)
      return isNew && task.task_id === undefined
        ? end(work, run, task, failed('agent_invalid_response', reading.text))
        : failing(work, run, task, reading.text)
    case 'unreachable':
      // An answer that may have arrived is looked for in the task. A message of a run has none yet.
      return isNew && (task.task_id === undefined || !reading.sent)
        ? giveUp(work, run, task, reading.text)
        : failing(work, run, task, reading.text)
  }
}

const succeeded = (text: string, artifacts: ReadTask['artifacts']): Completion => ({
  status: 'succeeded',
  output: outputOf(text, artifacts),
})

const failed = (error_code: string, text: string): Completion => ({
  status: 'failed',
  error_code,
  error_message: truncate(text.toWellFormed(), 4_000),
})

/** Ends the run whose task has ended, too. */
const end = async (work: WorkerWork, run: Run, task: OutsideTask, outcome: Completion): Promise<void> => {
  await finishIf(work, run, () => true, outcome)
  await closeTask(work, task)
}

/** Stops looking at a task. */
export const closeTask = async (work: WorkerWork, task: OutsideTask): Promise<void> => {
  const set = { is_over: true, round: task.round + 1, due_at: undefined }
  await ifUnchanged(work.commit([OutsideTaskEntity.update(task, { set }, { where: { round: task.round } })]))
}

const applyTask = async (work: WorkerWork, run: Run, task: OutsideTask, read: ReadTask): Promise<void> => {
  const text = read.text.trim()
  switch (read.state) {
    case 'COMPLETED':
      return end(work, run, task, succeeded(read.text, read.artifacts))
    case 'FAILED':
      return end(work, run, task, failed('agent_failed', text || 'The agent failed without a message.'))
    case 'REJECTED':
      return end(work, run, task, failed('rejected', text || 'The agent rejected the run without a message.'))
    case 'CANCELED':
      return end(work, run, task, failed('agent_cancelled', text || 'The agent cancelled its task.'))
    case 'INPUT_REQUIRED':
    case 'AUTH_REQUIRED':
      return applyQuestion(work, run, task, read)
    default:
      return applyProgress(work, run, task, read)
  }
}

const found = ({ id, contextId }: ReadTask): Partial<OutsideTask> => ({
  task_id: id,
  ...(contextId !== undefined && { context_id: contextId }),
  failing_since: undefined,
})

/** Asks the person who started the run. The question's key is its number, so a status that is read twice asks once. */
const applyQuestion = async (work: WorkerWork, run: Run, task: OutsideTask, read: ReadTask): Promise<void> => {
  // The agent hasn't taken up the answer yet. The official server may answer it with the state from before.
  if (read.fingerprint === task.answered)
    return failing(work, run, task, 'The agent still asks the question that was answered.')
  if (isWaitingForInput(run)) return goOn(work, run, task, found(read))
  const fallback =
    read.state === 'AUTH_REQUIRED'
      ? 'The agent needs you to sign in or grant access where it runs.'
      : 'The agent asks for more information.'
  const message = truncate(read.text.trim(), LIMITS.questionCharacters) || fallback
  // Kept first: the run's answer needs the task's id.
  const kept = await keep(work, task, { ...found(read), asked: read.fingerprint })
  if (!kept) return
  try {
    await askInput(work, run, { questions: { [`question_${task.answers + 1}`]: { message } } })
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'run_already_finished') return goOn(work, run, kept, {}, 0)
    // It was asked before, or too many runs of the installation wait for answers. Then the next check asks again.
    if (error.code !== 'validation_error' && error.code !== 'conflict') throw error
  }
  await goOn(work, run, kept, {})
}

/** Makes a status with a new text a step of the run, exactly once. */
const applyProgress = async (work: WorkerWork, run: Run, task: OutsideTask, read: ReadTask): Promise<void> => {
  const text = read.text.trim()
  if (text === '' || read.fingerprint === task.reported) return goOn(work, run, task, found(read))
  const set = { ...found(read), reported: read.fingerprint, round: task.round + 1 }
  const step = { type: 'message', output: { text: truncate(text, 4_000) } }
  const done = await unlessSuperseded(
    changeRun(work, run, async (current) => {
      requireActive(current)
      const { writes, counts } = await prepareSteps(work, current, [step])
      await work.commit([
        runWrite(current, { ...counts, alive_at: work.clock.now() }),
        ...writes,
        OutsideTaskEntity.update(task, { set }, { where: { round: task.round }, otherwise: () => new Superseded() }),
      ])
    }),
  )
  if (done) await goOn(work, run, { ...task, ...set }, {})
}

const unlessSuperseded = async (change: Promise<unknown>): Promise<boolean> => {
  try {
    await change
    return true
  } catch (error) {
    if (error instanceof Superseded) return false
    throw error
  }
}

/** Counts a read that brought nothing. After 10 minutes of them the run fails. */
const failing = async (work: WorkerWork, run: Run, task: OutsideTask, text: string): Promise<void> => {
  const since = task.failing_since ?? work.clock.now()
  if (work.clock.now() - since < LIMITS.outsideSilence) return goOn(work, run, task, { failing_since: since })
  return giveUp(work, run, task, `The agent’s task couldn’t be read for 10 minutes. ${text}`)
}

/** Fails the run of an agent that can't be reached. */
const giveUp = (work: WorkerWork, run: Run, task: OutsideTask, text: string): Promise<void> =>
  breakOff(work, run, task, 'agent_unreachable', text)

/** Fails a run. Its task, if there is one, is cancelled at the agent. */
const breakOff = async (work: WorkerWork, run: Run, task: OutsideTask, code: string, text: string): Promise<void> => {
  await finishIf(work, run, () => true, failed(code, text))
  return task.task_id === undefined ? closeTask(work, task) : goOn(work, run, task, {}, 0)
}

/** @returns undefined if another worker acted on the task */
const keep = async (
  work: WorkerWork,
  task: OutsideTask,
  change: Partial<OutsideTask>,
): Promise<OutsideTask | undefined> => {
  const set = { ...change, round: task.round + 1 }
  const write = OutsideTaskEntity.update(task, { set }, { where: { round: task.round } })
  return (await ifUnchanged(work.commit([write]))) ? { ...task, ...set } : undefined
}

/** Keeps what changed, and schedules the next check of the task. */
const goOn = async (
  work: WorkerWork,
  run: Run,
  task: OutsideTask,
  change: Partial<OutsideTask>,
  pause = pauseBefore({ ...task, ...change }),
): Promise<void> => {
  const kept = await keep(work, task, { ...change, due_at: work.clock.now() + pause + NET })
  if (kept) await wakeFollower(work, run, kept.round, pause)
}
