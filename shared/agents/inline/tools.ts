import type * as z from 'zod'
import type { Work, WorkerWork } from '#shared/foundation/work/index.ts'
import { scopeRefusal } from '#shared/identity/people/index.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { derivedId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { ModelRequest } from '#shared/kernel/ports/language-model.ts'
import { toolSpan } from '#shared/kernel/tracing/gen-ai.ts'
import { inSpan } from '#shared/kernel/tracing/scope.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { loadAskedResult } from '#shared/work/questions/index.ts'
import { changeRun, prepareSteps, type Run, requireStarted, runWrite } from '#shared/work/runs/index.ts'
import { executeOrchestratorTool, offeredOrchestratorTools, orchestratorTool } from '../orchestrator/tools.ts'
import type { Target } from '../targets/types.ts'
import { isTool, TOOLS, type ToolName } from '../tools/catalogue.ts'
import { type Invoker, invokeTool, storeCall } from '../tools/invoke.ts'
import { listTools } from '../tools/list.ts'
import type { Invocation } from '../tools/schemas.ts'
import { callResultWrite, loadQuestion, questionWrite, type Turn } from './conversation.ts'

/** Validates arguments, or throws `validation_error`. */
export type CheckArguments = (schema: z.ZodType<Record<string, unknown>>, value: unknown) => Record<string, unknown>

type Standing = Pick<Target, 'app' | 'installation' | 'workspace'> & { run: Run }

/** Every tool call needs this scope in addition to the tool's own, as it does through the API. */
const toolsRefusal = ({ installation, workspace }: Pick<Target, 'installation' | 'workspace'>) =>
  scopeRefusal('tools:invoke', { scopes: installation.scopes, workspace }, 'Calling tools')

/** Lists the platform tools that this installation may call now, as offered to the model. */
export const listOfferedTools = async (work: WorkerWork, target: Target): Promise<ModelRequest['tools']> => {
  if (toolsRefusal(target)) return []
  const { installation, workspace } = target
  const tools = await listTools(work, { installation, workspace, scopes: installation.scopes })
  return [
    ...tools
      .filter(({ allowed }) => allowed)
      .map(({ name, description, input_schema }) => ({ name, description, inputSchema: { ...input_schema } })),
    ...offeredOrchestratorTools({ ...target, scopes: installation.scopes }),
  ]
}

/** Outcome of a call: the result for the model, or a wait for a person's decision. */
export type CallOutcome = { kind: 'result'; text: string } | { kind: 'waits' }

/**
 * Makes the call at `place` of a turn, with the same permissions as the run's callback token. Effects and result are
 * stored in one transaction, and the generated ids are the same on every attempt, so a repeat after a crash changes
 * nothing twice. A refusal becomes an answer that lets the model try something else.
 * @throws `run_already_finished`, `too_many_steps`; Superseded when another worker made the call
 */
export const executeCall = async (
  work: WorkerWork,
  standing: Standing,
  turn: Turn,
  place: number,
  check: CheckArguments,
): Promise<CallOutcome> => {
  const call = turn.calls[place] as Turn['calls'][number]
  const { app, installation, workspace, run } = standing
  const question = call.tool === ASK ? await loadQuestion(work, run.id, turn.n, place) : undefined
  if (question !== undefined) {
    const answer = await loadAskedResult(work, run.id, question)
    if (!answer) return { kind: 'waits' }
    const result = cut(JSON.stringify(answer))
    await work.commit([await callResultWrite(work, run.id, turn.n, place, result)])
    return { kind: 'result', text: result }
  }
  let made = 0
  let asks = false
  let text = ''
  const calling: Work = {
    ...work,
    id: (kind) => derivedId(kind, turn.created_at, `${run.id}/${turn.n}/${place}\n${made++}`),
    async commit(writes, answer) {
      if (answer === undefined) return work.commit(writes)
      const asked = questionOf(call.tool, answer as Invocation)
      if (asked !== undefined) {
        asks = true
        return work.commit([...writes, questionWrite(work, run.id, turn.n, place, asked)])
      }
      text = resultText(answer as Invocation)
      await work.commit([...writes, await callResultWrite(work, run.id, turn.n, place, text)])
    },
  }
  try {
    const refusal = toolsRefusal(standing)
    if (refusal) throw refusal
    if (call.arguments === undefined) throw fail('validation_error', { message: 'The arguments aren’t a JSON object.' })
    const invoker = { app, installation, workspace, scopes: installation.scopes, run }
    const invocation = await invoke(calling, invoker, call.tool, call.arguments, check, turn.text)
    return asks || invocation.status === 'awaiting_approval' ? { kind: 'waits' } : { kind: 'result', text }
  } catch (error) {
    if (!(error instanceof PlatformError) || ENDING.has(error.code)) throw error
    if (error.code === 'conflict' && isTool(call.tool) && TOOLS[call.tool].approval === 'each') return { kind: 'waits' }
    return { kind: 'result', text: await keepRefusal(work, run, turn, place, error) }
  }
}

const ASK = 'ask_user' satisfies ToolName

/** Returns the step of the question that a call asked, if it waits for a person. */
const questionOf = (tool: string, answer: Invocation): string | undefined =>
  tool === ASK && answer.status === 'ok' && typeof answer.result.step_id === 'string'
    ? answer.result.step_id
    : undefined

/** Invokes a platform tool or one of the orchestrator's own. */
const invoke = async (
  work: Work,
  invoker: Invoker & { run: Run },
  name: string,
  args: Record<string, unknown>,
  check: CheckArguments,
  said: string,
): Promise<Invocation> => {
  // The model's words with the call are its reason.
  const input = { name, arguments: args, reason: truncate(said.trim(), LIMITS.reasonCharacters) || undefined }
  if (!orchestratorTool(invoker, name)) return invokeTool(work, invoker, input, check)
  const span = toolSpan(name)
  const execute = () => executeOrchestratorTool(work, invoker, name, args, check)
  const result = await inSpan(span.name, 'internal', span.attributes, execute)
  return storeCall(work, invoker.run, name, args, { result, writes: [] })
}

/** Errors of the run rather than the call. */
const ENDING = new Set(['run_already_finished', 'too_many_steps', 'step_write_conflict'])

/** Records a refused call as a step, so that people see what the model tried. */
const keepRefusal = async (
  work: WorkerWork,
  key: Run,
  turn: Turn,
  place: number,
  { code, message, fix, details }: PlatformError,
): Promise<string> => {
  const call = turn.calls[place] as Turn['calls'][number]
  const text = cut(JSON.stringify({ error: { code, message, fix, details } }))
  const result = await callResultWrite(work, key.id, turn.n, place, text)
  await changeRun(work, key, async (run) => {
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
      : JSON.stringify({ error: { code: 'rejected', message: 'A person in the workspace rejected this call.' } }),
  )

const cut = (json: string): string =>
  json.length <= LIMITS.toolResultCharacters
    ? json
    : `${json.slice(0, LIMITS.toolResultCharacters).toWellFormed()}… (cut: ${json.length} characters)`
