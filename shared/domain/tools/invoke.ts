import { setTimeout as pause } from 'node:timers/promises'
import type * as z from 'zod'
import { type Approval, type Run, RunEntity } from '../../entities/runs.ts'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { fail, PlatformError } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { sha256 } from '../../kernel/secrets.ts'
import { ConditionFailed } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { loadPayload } from '../payloads.ts'
import { askApproval, consumption, standingApproval } from '../runs/approvals.ts'
import { changingRun, noSuchRun, requireStarted, runWrite } from '../runs/change.ts'
import { prepareSteps } from '../runs/steps.ts'
import { whileTaskMoves } from '../tasks/change.ts'
import { isTool, TOOLS, type ToolName } from './catalogue.ts'
import { EXECUTORS, isAtOnce, type ToolAtOnce } from './execute.ts'
import type { Executed, Scene } from './executors/executor.ts'
import { checkHttpFetch, type HttpFetch } from './http-fetch.ts'
import { bansIn, bansRef, refusalOf } from './permission.ts'
import type { Invocation } from './schemas.ts'

export interface InvokeInput {
  name: string
  arguments: Record<string, unknown>
  /** The run that the caller names. A callback token's own needs no naming. */
  runId?: string | undefined
}

/** Who calls; with a callback token, also its run, as the sign-in read it. */
export type Invoker = Omit<Scene, 'bound'>

/**
 * Calls a platform tool (specification "Tool invocation result").
 * @param check turns bad arguments into `validation_error`
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
  const { bans, named } = await readFor(work, caller, input)
  const refusal = refusalOf(name, caller, bans)
  if (refusal) throw refusal
  const args = check(TOOLS[name].input(), input.arguments)
  const run = caller.run ?? named
  if (input.runId !== undefined && run?.id !== input.runId) throw noSuchRun()
  const scene: Scene = { ...caller, run, bound: caller.run !== undefined }
  if (name === 'http_fetch') checkHttpFetch(work, args as unknown as HttpFetch)
  if (isAtOnce(name)) return whileTaskMoves(() => atOnce(work, scene, name, args))
  if (!run) {
    throw fail('validation_error', {
      message: `${name} needs a run whose people can approve it.`,
      details: { fields: { run_id: ['required for a tool that needs approval'] } },
    })
  }
  return withApproval(work, run, name, args)
}

/** The platform's bans and the run that the caller names, in one round trip. */
const readFor = async (work: Work, { installation, run }: Invoker, { runId }: InvokeInput) => {
  if (run || runId === undefined) {
    const [settings] = await work.table.getAll([bansRef] as const)
    return { bans: bansIn(settings), named: undefined }
  }
  const key = RunEntity.key({ installation_id: installation.id, id: runId })
  const [settings, named] = await work.table.getAll([bansRef, { entity: RunEntity, key }] as const)
  return { bans: bansIn(settings), named }
}

const atOnce = async (
  work: Work,
  scene: Scene,
  name: ToolAtOnce,
  args: Record<string, unknown>,
): Promise<Invocation> => {
  const { run } = scene
  if (run) requireRoom(requireStarted(run))
  const executed = await EXECUTORS[name](work, scene, args)
  try {
    return await finishAtOnce(work, run, name, args, executed)
  } catch (error) {
    if (error instanceof PlatformError) await executed.refused?.(error)
    throw error
  }
}

/** What a tool does aside is not done for a run that could not keep its step. @throws `too_many_steps` */
const requireRoom = ({ step_count }: Run): void => {
  if (step_count >= LIMITS.stepsPerRun) throw fail('too_many_steps')
}

/** Keeps a call's step and its writes in one transaction. @throws the refusals of a run that cannot take a step */
export const finishAtOnce = async (
  work: Work,
  run: Run | undefined,
  name: string,
  args: Record<string, unknown>,
  { result, writes }: Executed,
): Promise<Invocation> => {
  const answer: Invocation = { status: 'ok', result }
  if (!run) {
    await work.commit(writes, answer)
    return answer
  }
  const attempt = async (current: Run): Promise<Invocation> => {
    requireStarted(current)
    const step = await prepareSteps(work, current, [
      { type: 'tool_call', tool: name, output: { arguments: size(args), result: size(result) } },
    ])
    const alive = runWrite(current, { ...step.counts, alive_at: work.clock.now() })
    await work.commit([alive, ...step.writes, ...writes], answer)
    return answer
  }
  return changingRun(work, run, attempt, run)
}

/** Bytes and characters of a value that a step shows; two of them fit into one step’s 16 KiB, however they are escaped. */
const SHOWN_BYTES = 4_096
const SHOWN_CHARACTERS = 2_000

/** What a step shows of a value: all of it, unless that is too much for a trace. */
const size = (value: Record<string, unknown>): Record<string, unknown> => {
  const text = JSON.stringify(value)
  return Buffer.byteLength(text) <= SHOWN_BYTES
    ? value
    : { truncated: true, text: text.slice(0, SHOWN_CHARACTERS).toWellFormed() }
}

/** The hash that binds an approval to exactly this call (RFC 8785). */
const callHash = (tool: string, args: Record<string, unknown>): string => sha256(`${tool}\n${canonicalJson(args)}`)

const withApproval = async (
  work: Work,
  run: Run,
  tool: ToolName,
  args: Record<string, unknown>,
): Promise<Invocation> => {
  requireStarted(run)
  const hash = callHash(tool, args)
  const standing = await standingApproval(work, run, hash)
  if (standing?.status === 'pending') return { status: 'awaiting_approval', step_id: standing.step_id, tool }
  if (standing) return decided(work, run, standing)
  const { step_id } = await askApproval(work, run, { tool, arguments: args, hash })
  return { status: 'awaiting_approval', step_id, tool }
}

/** How long a call waits for a worker that is executing it. */
const EXECUTION_WAIT = 25_000

/** The decided result, given once. An approved call that is being executed is waited for. */
const decided = async (work: Work, run: Run, approval: Approval): Promise<Invocation> => {
  let current: Approval | undefined = approval
  const begun = performance.now()
  while (current && (current.status === 'approved' || current.status === 'executing')) {
    if (performance.now() - begun > EXECUTION_WAIT) {
      throw fail('conflict', {
        message: 'The approved call is still being executed.',
        fix: 'Wait for the event run.resumed, then call again.',
        headers: { 'retry-after': '5' },
      })
    }
    await pause(100)
    current = await standingApproval(work, run, approval.call_hash)
  }
  if (!current) throw fail('conflict', { message: 'The decided result was taken by another call.' })
  const answer: Invocation =
    current.status === 'rejected'
      ? { status: 'rejected', tool: current.tool }
      : {
          status: 'ok',
          result: (current.result ? await loadPayload(work, current.result) : {}) as Record<string, unknown>,
        }
  try {
    await work.commit([consumption(work, current)], answer)
  } catch (error) {
    if (error instanceof ConditionFailed)
      throw fail('conflict', { message: 'The decided result was taken by another call.' })
    throw error
  }
  return answer
}
