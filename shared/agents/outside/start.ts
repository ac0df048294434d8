import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import { finishIf, type InputAnswer, nextCheckAt, type Run, runWrite } from '#shared/work/runs/index.ts'
import type { Target } from '../targets/types.ts'
import { applyReading } from './apply.ts'
import { callOutside, type Line, loadLine, type PushPlace } from './call.ts'
import { missingSetting } from './credentials.ts'
import { type OutsideTask, OutsideTaskEntity } from './entity.ts'
import { messageOfAnswer, messageOfRun, type OutgoingMessage } from './message.ts'

/**
 * Sends a queued run to an outside A2A agent as a message, once (contract/runs.md#outside-a2a-agents).
 *
 *     queued ──claim──► running ──Message──► succeeded
 *                          │ Task ──► followed until it ends, asks, or is silent for 10 minutes: by reads, and push
 *                          │          notifications if the agent offers them
 *                          └ no answer ──► failed, agent_unreachable
 *
 * The claim is written before the message. If the worker dies in between, the sweeper fails the run: nobody can know whether
 * the agent has seen the message, and it must not get it twice.
 */
export const startOutsideRun = async (work: WorkerWork, run: Run, target: Target): Promise<void> => {
  const line = await loadUsableLine(work, run, target)
  if (!line) return
  const message = await messageOfRun(work, run, line.runtime)
  const push = line.pin.pushes ? pushPlace(work, run) : undefined
  const now = work.clock.now()
  const started = {
    status: 'running' as const,
    started_at: now,
    dispatched_at: now,
    due_at: nextCheckAt(run, undefined),
  }
  const task: OutsideTask = {
    run_id: run.id,
    installation_id: run.installation_id,
    ...(message.contextId !== undefined && { context_id: message.contextId }),
    is_over: false,
    round: 1,
    checks: 0,
    answers: 0,
    cancels: 0,
    ...(push && { push: { token_hash: sha256(push.token), workspace_id: run.workspace_id, app_id: run.app_id } }),
    created_at: now,
    due_at: now + LIMITS.agentLifeSign,
  }
  if (!(await ifUnchanged(work.commit([runWrite(run, started), OutsideTaskEntity.create(task)])))) return
  await send(work, { ...run, ...started }, target, line, task, message, push)
}

/** Returns the address for a run's push notifications, with a token that only wakes a worker for this run. */
const pushPlace = ({ settings }: Pick<WorkerWork, 'settings'>, { id }: Run): PushPlace => ({
  url: `${settings.baseUrl}/a2a/push/${id}`,
  token: newSecret(),
})

/**
 * Writes that take a question's answers for sending, in the transaction that marks them as sent.
 * @returns undefined if there is no task to answer
 */
export const takeForAnswer = async (
  work: Pick<WorkerWork, 'table' | 'clock'>,
  run: Run,
): Promise<{ task: OutsideTask; writes: Write[] } | undefined> => {
  const task = await work.table.get(OutsideTaskEntity, { run_id: run.id })
  if (task?.task_id === undefined || task.is_over) return undefined
  const set = {
    round: task.round + 1,
    checks: 0,
    answers: task.answers + 1,
    answered: task.asked,
    failing_since: undefined,
    due_at: work.clock.now() + LIMITS.agentLifeSign,
  }
  return {
    task: { ...task, ...set },
    writes: [OutsideTaskEntity.update(task, { set }, { where: { round: task.round } })],
  }
}

/** Sends the answers to the outside agent's question as a message of its task, once. */
export const answerOutside = async (
  work: WorkerWork,
  run: Run,
  target: Target,
  task: OutsideTask,
  { step_id, input = {} }: { step_id: string; input?: Readonly<Record<string, InputAnswer>> },
): Promise<void> => {
  const line = await loadUsableLine(work, run, target)
  if (line) await send(work, run, target, line, task, messageOfAnswer(task, step_id, input))
}

const send = async (
  work: WorkerWork,
  run: Run,
  target: Target,
  line: Line,
  task: OutsideTask,
  message: OutgoingMessage,
  push?: PushPlace,
): Promise<void> =>
  applyReading(work, run, task, await callOutside(work, run, target, line, { kind: 'send', message, push }), {
    isNew: true,
  })

/** Loads the way to the agent, or fails the run if its settings lack a credential. */
const loadUsableLine = async (work: WorkerWork, run: Run, target: Target): Promise<Line | undefined> => {
  const line = await loadLine(work, target)
  const missing = line && missingSetting(line.runtime.auth, line.settings)
  if (line && missing === undefined) return line
  await finishIf(work, run, () => true, {
    status: 'failed',
    error_code: 'invalid_config',
    error_message: `The setting ${missing ?? ''} isn’t set, and the agent can’t be called without it.`,
  })
  return undefined
}
