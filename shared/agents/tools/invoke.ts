import { setTimeout as pause } from 'node:timers/promises'
import type * as z from 'zod'
import { causedBy } from '#shared/foundation/outbox/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { toolSpan } from '#shared/kernel/tracing/gen-ai.ts'
import { inSpan } from '#shared/kernel/tracing/scope.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { callHash, consumeApproval, findApplicableApproval, requestApproval } from '#shared/work/approvals/index.ts'
import { askInput } from '#shared/work/questions/index.ts'
import {
  type Approval,
  changeRun,
  prepareSteps,
  type Run,
  RunEntity,
  requireStarted,
  runNotFound,
  runWrite,
} from '#shared/work/runs/index.ts'
import { isTool, TOOLS, type ToolName } from './catalogue.ts'
import { describeRequest } from './describe.ts'
import { EXECUTORS, type ImmediateTool, isImmediate } from './execute.ts'
import type { ToolCallContext, ToolResult } from './executors/executor.ts'
import { type HttpFetch, requireFetchable } from './http-fetch.ts'
import { bannedTools, bansRef, toolRefusalOf } from './permission.ts'
import type { Invocation } from './schemas.ts'

export interface InvokeInput {
  name: string
  arguments: Record<string, unknown>
  /** The run named in the request. Not needed with a callback token, which implies its run. */
  runId?: string | undefined
  /** Why the agent calls, for the person who has to approve it. */
  reason?: string | undefined
}

/** The caller; with a callback token, also its run as loaded during authentication. */
export type Invoker = Omit<ToolCallContext, 'bound'>

/**
 * Calls a platform tool (contract/tools.md#invocation).
 * @param check throws `validation_error` for invalid arguments
 * @throws `unknown_tool`, the refusals of the permission hierarchy, `blocked_target`; for calls that need approval also
 *   `validation_error` without a run, `run_already_finished`, `conflict`
 */
export const invokeTool = async (
  work: Work,
  caller: Invoker,
  input: InvokeInput,
  check: (schema: z.ZodType<Record<string, unknown>>, value: unknown) => Record<string, unknown>,
): Promise<Invocation> => {
  const { name } = input
  if (!isTool(name)) throw fail('unknown_tool', { details: { tool: name.slice(0, 100) } })
  const span = toolSpan(name)
  return inSpan(span.name, 'internal', span.attributes, () => invoke(work, caller, { ...input, name }, check))
}

const invoke = async (
  work: Work,
  caller: Invoker,
  input: InvokeInput & { name: ToolName },
  check: (schema: z.ZodType<Record<string, unknown>>, value: unknown) => Record<string, unknown>,
): Promise<Invocation> => {
  const { name } = input
  const { bans, named } = await loadBansAndRun(work, caller, input)
  const refusal = toolRefusalOf(name, caller, bans)
  if (refusal) throw refusal
  const args = check(TOOLS[name].input(), input.arguments)
  const run = caller.run ?? named
  if (input.runId !== undefined && run?.id !== input.runId) throw runNotFound()
  const scene: ToolCallContext = { ...caller, run, bound: caller.run !== undefined }
  const call = () => invokeIn(work, scene, { ...input, args })
  return run ? causedBy(run, call) : call()
}

const invokeIn = async (
  work: Work,
  scene: ToolCallContext,
  { name, args, reason }: Pick<InvokeInput, 'reason'> & { name: ToolName; args: Record<string, unknown> },
): Promise<Invocation> => {
  const { run } = scene
  if (name === 'http_fetch') requireFetchable(work, args as unknown as HttpFetch)
  if (name === ASK && run && args.task_id === undefined)
    return askPerson(work, run, scene, args as { question: string })
  if (isImmediate(name)) return retryOnConflict(() => executeAtOnce(work, scene, name, args))
  if (!run) {
    throw fail('validation_error', {
      message: `${name} needs a person’s approval, which requires a run.`,
      details: { fields: { run_id: ['is required for a tool that needs approval'] } },
    })
  }
  return withApproval(work, run, name, args, reason)
}

/** Loads the platform's bans and the run named in the request, in one round trip. */
const loadBansAndRun = async (work: Work, { installation, run }: Invoker, { runId }: Pick<InvokeInput, 'runId'>) => {
  if (run || runId === undefined) {
    const [settings] = await work.table.getAll([bansRef] as const)
    return { bans: bannedTools(settings), named: undefined }
  }
  const key = RunEntity.key({ installation_id: installation.id, id: runId })
  const [settings, named] = await work.table.getAll([bansRef, { entity: RunEntity, key }] as const)
  return { bans: bannedTools(settings), named }
}

const ASK = 'ask_user' satisfies ToolName

/**
 * `ask_user` in a run: a question that a person answers in the console. The answer becomes the result of the step
 * (contract/tools.md#asking-people).
 */
const askPerson = async (
  work: Work,
  run: Run,
  { app }: Invoker,
  { question }: { question: string },
): Promise<Invocation> => {
  const step_id = work.id('step')
  // Ids are unique, so the key was never used in the run.
  const key = `answer_${step_id.slice('stp_'.length)}`
  const answer: Invocation = { status: 'ok', result: { asked: true, task_id: null, step_id, key } }
  await askInput(work, run, {
    tool: ASK,
    asker: app.name,
    step_id,
    questions: { [key]: { message: question, schema: ANSWER_FORM } },
    answer,
  })
  return answer
}

const ANSWER_FORM = {
  type: 'object' as const,
  properties: {
    answer: { type: 'string' as const, title: 'Answer', minLength: 1, maxLength: LIMITS.answerCharacters },
  },
  required: ['answer'],
}

const executeAtOnce = async (
  work: Work,
  scene: ToolCallContext,
  name: ImmediateTool,
  args: Record<string, unknown>,
): Promise<Invocation> => {
  const { run } = scene
  const startedAt = work.clock.now()
  if (run) requireRoom(requireStarted(run))
  const executed = await EXECUTORS[name](work, scene, args)
  try {
    return await storeCall(work, run, name, args, { ...executed, startedAt })
  } catch (error) {
    if (error instanceof PlatformError) await executed.refused?.(error)
    throw error
  }
}

/**
 * Refuses a call whose run has no room for its step, before the tool commits anything aside.
 * @throws `too_many_steps`
 */
export const requireRoom = ({ step_count }: Run): void => {
  if (step_count >= LIMITS.stepsPerRun) throw fail('too_many_steps')
}

/**
 * Stores a call's step and its writes in one transaction.
 * @param answer the answer to the request
 * @throws the refusals of a run that can't take a step
 */
export const storeCall = async <Answer extends object = Invocation>(
  work: Work,
  run: Run | undefined,
  name: string,
  args: Record<string, unknown>,
  { result, writes, startedAt }: ToolResult & { startedAt?: number },
  answer: Answer = { status: 'ok', result } satisfies Invocation as unknown as Answer,
): Promise<Answer> => {
  if (!run) {
    await work.commit(writes, answer)
    return answer
  }
  const attempt = async (current: Run): Promise<Answer> => {
    requireStarted(current)
    const step = await prepareSteps(work, current, [
      {
        type: 'tool_call',
        tool: name,
        started_at: startedAt,
        output: { arguments: shownValue(args), result: shownValue(result) },
      },
    ])
    const change = runWrite(current, { ...step.counts, alive_at: work.clock.now() })
    try {
      await work.commit([change, ...step.writes, ...writes], answer)
    } catch (error) {
      if (error instanceof ConditionFailed && writes.some((write) => error.isOf(write)))
        throw new StaleToolWrite('the tool must run again', { cause: error })
      throw error
    }
    return answer
  }
  return changeRun(work, run, attempt, run).catch((error) => {
    throw error instanceof StaleToolWrite ? error.cause : error
  })
}

/** A write of the tool lost to a concurrent one. Repeating it for a newer run would lose again: the tool has to run again. */
class StaleToolWrite extends Error {}

/** Limits for a value shown in a step. Two of them fit into 16 KiB however they are escaped. */
const SHOWN_BYTES = 4_096
const SHOWN_CHARACTERS = 2_000

/** Returns the value as shown in a step, shortened if it is too large. */
const shownValue = (value: Record<string, unknown>): Record<string, unknown> => {
  const text = JSON.stringify(value)
  return Buffer.byteLength(text) <= SHOWN_BYTES
    ? value
    : { truncated: true, text: text.slice(0, SHOWN_CHARACTERS).toWellFormed() }
}

const withApproval = async (
  work: Work,
  run: Run,
  tool: ToolName,
  args: Record<string, unknown>,
  reason: string | undefined,
): Promise<Invocation> => {
  requireStarted(run)
  const hash = callHash(tool, args)
  const standing = await findApplicableApproval(work, run, hash)
  if (standing?.status === 'pending') return { status: 'awaiting_approval', step_id: standing.step_id, tool }
  if (standing) return decided(work, run, standing)
  const { step_id } = await requestApproval(work, run, {
    tool,
    arguments: args,
    hash,
    request: describeRequest(tool, args),
    reason,
  })
  return { status: 'awaiting_approval', step_id, tool }
}

/** Maximum time a request waits for a worker to execute the call, in ms. */
const EXECUTION_WAIT = 25_000

/** Returns the result of a decided call, once. Waits for an approved call that is still being executed. */
const decided = async (work: Work, run: Run, approval: Approval): Promise<Invocation> => {
  let current: Approval | undefined = approval
  const begun = performance.now()
  while (current && (current.status === 'approved' || current.status === 'executing')) {
    if (performance.now() - begun > EXECUTION_WAIT) {
      throw fail('conflict', {
        message: 'The approved call is still running.',
        fix: 'Wait for the event run.resumed, then call again.',
        headers: { 'retry-after': '5' },
      })
    }
    await pause(100)
    current = await findApplicableApproval(work, run, approval.call_hash)
  }
  if (!current) throw fail('conflict', { message: 'Another call has already received the result of this decision.' })
  const receipt = current.receipt !== undefined && { receipt: current.receipt }
  const answer: Invocation =
    current.status === 'rejected'
      ? { status: 'rejected', tool: current.tool, ...receipt }
      : {
          status: 'ok',
          result: (current.result ? await loadPayload(work, current.result) : {}) as Record<string, unknown>,
          ...receipt,
        }
  try {
    await work.commit([consumeApproval(work, current)], answer)
  } catch (error) {
    if (error instanceof ConditionFailed)
      throw fail('conflict', { message: 'Another call has already received the result of this decision.' })
    throw error
  }
  return answer
}
