import type * as z from 'zod'
import type { Run } from '../../entities/runs.ts'
import { fail, PlatformError } from '../../kernel/errors.ts'
import { derivedId } from '../../kernel/ids.ts'
import { LIMITS } from '../../kernel/limits.ts'
import type { Work, WorkerWork } from '../deps.ts'
import { executeOwnTool, offeredOwnTools, ownTool } from '../orchestrator/tools.ts'
import type { ModelRequest } from '../ports.ts'
import { changingRun, requireStarted, runWrite } from '../runs/change.ts'
import { prepareSteps } from '../runs/steps.ts'
import type { Target } from '../runs/target.ts'
import { scopeRefusal } from '../scope-refusal.ts'
import { isTool, TOOLS } from '../tools/catalogue.ts'
import { finishAtOnce, type Invoker, invokeTool } from '../tools/invoke.ts'
import { listTools } from '../tools/list.ts'
import type { Invocation } from '../tools/schemas.ts'
import { keepResult, type Turn } from './conversation.ts'

/** Turns bad arguments into `validation_error`. */
export type CheckArguments = (schema: z.ZodType<Record<string, unknown>>, value: unknown) => Record<string, unknown>

type Standing = Pick<Target, 'app' | 'installation' | 'workspace'> & { run: Run }

/** Every tool call through the API needs this scope beside the tool's own; here as there. */
const toolsAllowed = ({ installation, workspace }: Pick<Target, 'installation' | 'workspace'>): boolean =>
  scopeRefusal('tools:invoke', { scopes: installation.scopes, workspace }, 'Calling tools') === undefined

/** The platform tools that this installation may call now, as the model is told of them. */
export const offeredTools = async (work: WorkerWork, target: Target): Promise<ModelRequest['tools']> => {
  if (!toolsAllowed(target)) return []
  const { installation, workspace } = target
  const tools = await listTools(work, { installation, workspace, scopes: installation.scopes })
  return [
    ...tools
      .filter(({ allowed }) => allowed)
      .map(({ name, description, input_schema }) => ({ name, description, inputSchema: { ...input_schema } })),
    ...offeredOwnTools({ ...target, scopes: installation.scopes }),
  ]
}

/** What came of a call: what the model is told of it, or that it waits for somebody. */
export type Called = { kind: 'result'; text: string } | { kind: 'waits' }

/**
 * Makes the call at `place` of a turn, with the standing of a run's own callback token. What it changes and what it
 * answers are one transaction, and the ids it makes are the same at every try: a worker that died is repeated without
 * anything happening twice. A refusal is an answer to the model, which may do better.
 * @throws `run_already_finished`, `too_many_steps`; Superseded when another worker made the call
 */
export const makeCall = async (
  work: WorkerWork,
  standing: Standing,
  turn: Turn,
  place: number,
  check: CheckArguments,
): Promise<Called> => {
  const call = turn.calls[place] as Turn['calls'][number]
  const { app, installation, workspace, run } = standing
  let made = 0
  let text = ''
  const calling: Work = {
    ...work,
    id: (kind) => derivedId(kind, turn.created_at, `${run.id}/${turn.n}/${place}\n${made++}`),
    async commit(writes, answer) {
      if (answer === undefined) return work.commit(writes)
      text = resultText(answer as Invocation)
      await work.commit([...writes, await keepResult(work, run.id, turn.n, place, text)])
    },
  }
  try {
    if (!toolsAllowed(standing)) throw fail('insufficient_scope', { message: 'This agent may not call tools.' })
    if (call.arguments === undefined) throw fail('validation_error', { message: 'The arguments are no JSON object.' })
    const invoker = { app, installation, workspace, scopes: installation.scopes, run }
    const invocation = await invoke(calling, invoker, call.tool, call.arguments, check)
    return invocation.status === 'awaiting_approval' ? { kind: 'waits' } : { kind: 'result', text }
  } catch (error) {
    if (!(error instanceof PlatformError) || ENDING.has(error.code)) throw error
    if (error.code === 'conflict' && isTool(call.tool) && TOOLS[call.tool].approval === 'each') return { kind: 'waits' }
    return { kind: 'result', text: await keepRefusal(work, run, turn, place, error) }
  }
}

/** A platform tool, or one that only the orchestrator has. */
const invoke = async (
  work: Work,
  invoker: Invoker & { run: Run },
  name: string,
  args: Record<string, unknown>,
  check: CheckArguments,
): Promise<Invocation> => {
  if (!ownTool(invoker, name)) return invokeTool(work, invoker, { name, arguments: args }, check)
  const result = await executeOwnTool(work, invoker, name, args, check)
  return finishAtOnce(work, invoker.run, name, args, { result, writes: [] })
}

/** Errors of the run itself, not of the call. */
const ENDING = new Set(['run_already_finished', 'too_many_steps', 'step_write_conflict'])

/** A refused call leaves a step, too: people see what the model tried. */
const keepRefusal = async (
  work: WorkerWork,
  key: Run,
  turn: Turn,
  place: number,
  { code, message, fix, details }: PlatformError,
): Promise<string> => {
  const call = turn.calls[place] as Turn['calls'][number]
  const text = cut(JSON.stringify({ error: { code, message, fix, details } }))
  const result = await keepResult(work, key.id, turn.n, place, text)
  await changingRun(work, key, async (run) => {
    requireStarted(run)
    const tool = call.tool.slice(0, 100).toWellFormed()
    const output = { error: { code, message: message.slice(0, 1_000).toWellFormed() } }
    const steps = await prepareSteps(work, run, [{ type: 'tool_call', status: 'failed', tool, output }])
    await work.commit([runWrite(run, { ...steps.counts, alive_at: work.clock.now() }), ...steps.writes, result])
  })
  return text
}

const resultText = (invocation: Invocation): string =>
  cut(
    invocation.status === 'ok'
      ? JSON.stringify(invocation.result)
      : JSON.stringify({ error: { code: 'rejected', message: 'A person of the organization refused this call.' } }),
  )

const cut = (json: string): string =>
  json.length <= LIMITS.toolResultCharacters
    ? json
    : `${json.slice(0, LIMITS.toolResultCharacters).toWellFormed()}… (cut: ${json.length} characters)`
