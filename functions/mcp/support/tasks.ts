import { InstallationEntity } from '#shared/access/installations/index.ts'
import { presentAnswer } from '#shared/agents/calls/index.ts'
import { viaOf } from '#shared/agents/person-tools/index.ts'
import { loadToolRefusal } from '#shared/agents/tools/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import { withoutAnswer } from '#shared/foundation/work/index.ts'
import { callerName } from '#shared/http/callers.ts'
import { HOUR, iso, SECOND } from '#shared/kernel/clock.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { consumeApproval, findOwnApproval } from '#shared/work/approvals/index.ts'
import { answerInput, loadPendingQuestions } from '#shared/work/questions/index.ts'
import {
  type Approval,
  cancelRun,
  cancelRunFor,
  findFollowedRun,
  isActive,
  isWaitingForInput,
  loadShape,
  type Run,
} from '#shared/work/runs/index.ts'
import { isPerson, loadAskRefusal, responderOf } from './caller.ts'
import { requireCapabilities } from './capabilities.ts'
import { contentOf } from './content.ts'
import type { RequestContext } from './context.ts'
import { MCP_ERRORS, McpError, type Message, OWN_META, type Result } from './protocol.ts'
import { readResponses, requestsFor } from './questions.ts'
import { resultOfAgent, resultOfTool } from './results.ts'

/** Time for which a task can be read. People decide within 24 hours. */
const LIFE = 25 * HOUR

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

const task = (
  taskId: string,
  {
    created_at,
    changed_at,
    poll,
    status = 'working',
    message,
  }: {
    created_at: number
    changed_at: number
    poll: number
    status?: Status
    message?: string
  },
): Result => ({
  taskId,
  status,
  ...(message !== undefined && { statusMessage: message }),
  createdAt: iso(created_at),
  lastUpdatedAt: iso(changed_at),
  ttlMs: LIFE,
  pollIntervalMs: poll,
})

const RUN_POLL = 2 * SECOND
const APPROVAL_POLL = 5 * SECOND

/** Presents a run as a task. */
export const runTask = (
  id: string,
  created_at: number,
  changed_at: number,
  status?: Status,
  message?: string,
): Result =>
  task(id, { created_at, changed_at, poll: RUN_POLL, ...(status && { status }), ...(message && { message }) })

const WAITS = 'A person has to decide whether the call may run.'

/** Presents an approval as a task. Nothing here decides it: who calls must not be who approves. */
export const approvalTask = (id: string, created_at: number, changed_at: number, status: Status = 'working'): Result =>
  task(id, { created_at, changed_at, poll: APPROVAL_POLL, status, ...(status === 'working' && { message: WAITS }) })

type Found = { run: Run } | { approval: Approval }

/** Finds the task that a request names. @throws {McpError} also for a task of another caller */
const findTask = async ({ work, caller, lane }: RequestContext, { params, meta }: Message): Promise<Found> => {
  requireCapabilities(lane, ['tasks'], work.settings)
  const taskId = String(params.taskId)
  const named = String(meta[OWN_META.runId])
  const isApproval = isId('step', taskId)
  const refusal =
    isApproval && !isPerson(caller)
      ? await loadToolRefusal(work, caller, 'http_fetch')
      : await loadAskRefusal(work, caller)
  if (refusal) throw refusal
  if (isId('run', taskId)) {
    const by = callerName(caller) ?? ''
    const run = await findFollowedRun(work, caller.workspace.id, { protocol: 'mcp', by }, taskId)
    if (run) return { run }
  }
  if (isApproval && !isPerson(caller)) {
    const runId = caller.run?.id ?? (isId('run', named) ? named : undefined)
    const found = await findOwnApproval(work, caller.installation.id, taskId, runId)
    if (found) return found
  }
  throw new McpError(MCP_ERRORS.invalidParams, 'There is no such task.')
}

export const getTask = async (context: RequestContext, message: Message): Promise<Result> => {
  const found = await findTask(context, message)
  return 'approval' in found ? getApproval(context, found.approval) : getRun(context, found.run)
}

const getRun = async ({ work, lane }: RequestContext, run: Run): Promise<Result> => {
  const changed = run.finished_at ?? run.alive_at ?? run.dispatched_at ?? run.created_at
  const view = (status: Status, message?: string) => runTask(run.id, run.created_at, changed, status, message)
  if (isActive(run.status)) {
    const pending = await loadPendingQuestions(work, run)
    const inputRequests = requestsFor(
      lane,
      pending.map(({ questions }) => questions),
    )
    if (Object.keys(inputRequests).length > 0) return { ...view('input_required'), inputRequests }
    return view('working', waitingText(work, run))
  }
  if (run.status === 'cancelled') return view('cancelled')
  const agent = await work.table.get(InstallationEntity, { workspace_id: run.workspace_id, id: run.installation_id })
  const shown = agent ?? { app_slug: run.agent_id, app_name: run.agent_id }
  const [result, shape] = await Promise.all([
    presentAnswer(work, shown, run.tool ?? '', run),
    loadShape(work, run, '$mcp'),
  ])
  try {
    return { ...view('completed'), result: resultOfAgent(result, run.id, contentOf(shape)) }
  } catch (error) {
    if (!(error instanceof McpError)) throw error
    const { code, message, data } = error
    return { ...view('failed', message), error: { code, message, data } }
  }
}

/** Returns what an active run waits for, as far as its client can't do anything about it. */
const waitingText = ({ settings: { baseUrl } }: RequestContext['work'], run: Run): string | undefined => {
  if (run.status === 'awaiting_approval') return WAITS
  if (!isWaitingForInput(run)) return undefined
  return `The agent asks a question that the client can’t show. A person of the workspace can answer it in the console: ${baseUrl}/app#/runs/${run.id}`
}

const getApproval = async ({ work }: RequestContext, approval: Approval): Promise<Result> => {
  const { step_id, created_at, decided_at, status } = approval
  const view = (shown?: Status) => approvalTask(step_id, created_at, decided_at ?? created_at, shown)
  if (status === 'voided') return view('cancelled')
  if (status !== 'executed' && status !== 'rejected') return view()
  const receipt = approval.receipt !== undefined && { receipt: approval.receipt }
  const result = resultOfTool(
    status === 'rejected'
      ? { status, tool: approval.tool, ...receipt }
      : {
          status: 'ok',
          result: (approval.result ? await loadPayload(work, approval.result) : {}) as Record<string, unknown>,
          ...receipt,
        },
  )
  // The same call, made again, is another one: a person decides again.
  if (approval.consumed_at === undefined) await ifUnchanged(work.commit([consumeApproval(work, approval)]))
  return { ...view('completed'), result }
}

/** Answers a task's questions. An approval has none, and is decided by a person only. */
export const updateTask = async (context: RequestContext, message: Message): Promise<Result> => {
  const { work, caller } = context
  const found = await findTask(context, message)
  const responses = readResponses(message.params.inputResponses)
  if ('run' in found && !('approval' in found) && isActive(found.run.status)) {
    await answerInput(withoutAnswer(work), found.run, responderOf(caller), responses, { isClient: true })
  }
  return {}
}

export const cancelTask = async (context: RequestContext, message: Message): Promise<Result> => {
  const found = await findTask(context, message)
  if ('run' in found && !('approval' in found)) {
    const { work, caller } = context
    const cancelled = isPerson(caller)
      ? cancelRunFor(withoutAnswer(work), found.run, { userId: caller.person.id, via: viaOf(caller.grant) })
      : cancelRun(withoutAnswer(work), found.run)
    await cancelled.catch((error) => {
      if (!(error instanceof PlatformError) || error.code !== 'run_already_finished') throw error
    })
  }
  return {}
}
