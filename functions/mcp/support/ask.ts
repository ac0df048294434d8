import { InstallationEntity } from '#shared/access/installations/index.ts'
import {
  type AskAsPerson,
  type Asked,
  cancelAsked,
  followAsked,
  inTime,
  presentAnswer,
  startAskedByPerson,
} from '#shared/agents/calls/index.ts'
import { newRunInPlace, resumeAwaitedRun } from '#shared/agents/dispatch/index.ts'
import { viaOf } from '#shared/agents/person-tools/index.ts'
import { startFollowedAsk, storeFollowedAsk, TOOLS } from '#shared/agents/tools/index.ts'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { callerName } from '#shared/http/callers.ts'
import { checkArguments } from '#shared/http/parse.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { cleanText } from '#shared/kernel/names.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { answerInput, loadPendingQuestions } from '#shared/work/questions/index.ts'
import { isActive, isWaitingForInput, loadRun, loadShape, type Run } from '#shared/work/runs/index.ts'
import { isPerson, responderOf } from './caller.ts'
import {
  askInConsole,
  followsTasks,
  keptCapabilities,
  missingCapabilities,
  namesOf,
  neededFor,
} from './capabilities.ts'
import { type ContentBlock, contentOf } from './content.ts'
import type { CallContext } from './context.ts'
import { MCP_ERRORS, McpError, type Message, type Result } from './protocol.ts'
import { type ClientRequest, requestsFor, requestsOf } from './questions.ts'
import { createReporter } from './report.ts'
import { failed, resultOfAgent, resultOfTool } from './results.ts'
import { type RequestState, type StatedCall, sealState } from './state.ts'
import { runTask } from './tasks.ts'
import type { AgentTool } from './tools.ts'

export interface AskedTool {
  tool: AgentTool
  /** Arguments of `ask_agent`. */
  given: Record<string, unknown>
  /** The call as its state is bound to it. */
  called: StatedCall
  /** Run that asks, as named in the request. */
  runId: string | undefined
  /** State of the call that this one continues. */
  state: RequestState | undefined
  /** The client's answers to the questions of that call. */
  responses: Record<string, Record<string, unknown>>
}

/** Outcome of a call of an agent's tool. The first two are kept under the call's key. */
export type AskAnswer =
  | { status: 'ended'; run_id: string; result: Record<string, unknown>; content?: ContentBlock[] }
  | { status: 'task'; run_id: string; created_at: number }
  | { status: 'asked'; inputRequests: Record<string, ClientRequest>; requestState: string }
  /** The client lacks the capabilities for every question, so the run was cancelled. */
  | { status: 'undeclared'; needed: Record<string, unknown>; run_id: string; question: string }
  | { status: 'closed' }
  /** A person's call whose wait is over. Its run continues. */
  | { status: 'running'; run_id: string }

/** Time after which a call becomes a task. */
const BEFORE_TASK = 5 * SECOND

/** Longest wait for an agent that has asked questions. Before that, the chain's deadline ends the wait. */
const LONGEST_WAIT = 120 * SECOND

/** Longest wait for a person's call. Without a stream, the edge gives up earlier. */
const PERSON_WAIT = { streamed: 280 * SECOND, inOnePiece: LIMITS.agentWait }

/** Makes a call of an agent's tool, or continues one with answers, and follows its run. */
export const ask = async (
  context: CallContext,
  inner: Work,
  message: Message,
  asked: AskedTool,
): Promise<AskAnswer> => {
  const { work, lane } = context
  const isTask = followsTasks(lane) && asked.tool.task !== 'never'
  const started = asked.state
    ? await continueCall(context, asked.state, asked.responses)
    : await startCall(context, inner, message, asked, isTask)
  if (isTask && asked.tool.task === 'always') return becomeTask(inner, started, asked)
  const { run } = started.asked
  // A task outlives this function, so the queue wakes its agent.
  if (!isTask && asked.state && !isWaitingForInput(run)) wake(context, resumeAwaitedRun(work, run, asked.state.step_id))
  const { open } = started.asked
  if (open) context.outbox.keep(open.over)
  return follow(context, inner, message, asked, started, isTask)
}

/** Keeps the function running until the agent has answered. If it fails, the queue or the sweeper does the same. */
const wake = ({ work, outbox }: CallContext, act: Promise<void>): void =>
  outbox.keep(act.catch((error) => work.log.error('waking an agent failed', { request_id: work.requestId, error })))

interface Started {
  asked: Asked
  /** Run that asked the agent. */
  asking: Run | undefined
  /** Number in the run's stream after which steps are new to the client. */
  from: number
}

const startCall = async (
  { caller, lane, headers }: CallContext,
  inner: Work,
  { id }: Message,
  { tool: { agent: found }, given, runId }: AskedTool,
  isTask: boolean,
): Promise<Started> => {
  const session = headers['mcp-session-id']
  const following = {
    protocol: 'mcp',
    by: callerName(caller) ?? '',
    client_capabilities: keptCapabilities(lane),
    // A person's call may end before its run does.
    detached: isTask || isPerson(caller),
    ...(!lane.isModern && { request: requestName(session, id) }),
  } as const
  const inPlace = isTask ? undefined : newRunInPlace
  if (isPerson(caller)) {
    const ask = checkArguments(TOOLS.ask_agent.input(), given) as unknown as Omit<AskAsPerson, 'following' | 'via'>
    const via = viaOf(caller.grant)
    return {
      asked: await startAskedByPerson(inner, caller, { ...ask, found, following, via, inPlace }),
      asking: undefined,
      from: 0,
    }
  }
  const call = { arguments: given, runId, found, following, inPlace }
  const started = await startFollowedAsk(inner, caller, call, checkArguments)
  return { ...started, from: 0 }
}

/** Name of a client's request, by which it can cancel it. */
export const requestName = (session: string | undefined, id: unknown): string => JSON.stringify([session ?? null, id])

/** Passes the answers of the client on to the run. @throws `validation_error` for answers that don't fit their form */
const continueCall = async (
  { work, caller }: CallContext,
  { run_id, installation_id, asking }: RequestState,
  responses: AskedTool['responses'],
): Promise<Started> => {
  const key = { installation_id, id: run_id }
  const before = await loadRun(work, key)
  if (isActive(before.status))
    await answerInput(withoutAnswer(work), key, responderOf(caller), responses, { isClient: true }).catch(unlessEnded)
  const [run, agent] = await Promise.all([
    loadRun(work, key),
    work.table.get(InstallationEntity, { workspace_id: caller.workspace.id, id: installation_id }),
  ])
  if (!agent) throw fail('not_found', { message: 'The agent was uninstalled.' })
  if (isPerson(caller)) return { asked: { run, agent }, asking: undefined, from: before.stream_seq }
  const parent =
    asking === undefined ? undefined : await loadRun(work, { installation_id: caller.installation.id, id: asking })
  return { asked: { run, agent }, asking: caller.run ?? parent, from: before.stream_seq }
}

/** A run that has ended in the meantime has a result to show. */
const unlessEnded = (error: unknown): void => {
  if (!(error instanceof PlatformError) || error.code !== 'run_already_finished') throw error
}

const becomeTask = (inner: Work, { asked: { run }, asking }: Started, { given }: AskedTool): Promise<AskAnswer> => {
  const answer: AskAnswer = { status: 'task', run_id: run.id, created_at: run.created_at }
  return storeFollowedAsk<AskAnswer>(inner, asking, given, { status: 'working', task_id: run.id }, answer)
}

const follow = async (
  context: CallContext,
  inner: Work,
  message: Message,
  asked: AskedTool,
  started: Started,
  isTask: boolean,
): Promise<AskAnswer> => {
  const { work, lane, outbox } = context
  const {
    asking,
    asked: { open },
  } = started
  const begun = performance.now()
  const report = createReporter(context, message, started.from)
  const left = (run: Run): number => {
    const elapsed = performance.now() - begun
    if (isTask) return BEFORE_TASK - elapsed
    if (isPerson(context.caller)) return (outbox.isOpen ? PERSON_WAIT.streamed : PERSON_WAIT.inOnePiece) - elapsed
    return run.is_detached ? LONGEST_WAIT - elapsed : run.chain_deadline - work.clock.now()
  }
  let run = started.asked.run
  // Only clients of the stateless version end a call by closing its stream.
  const signal = lane.isModern ? outbox.closed.signal : new AbortController().signal
  const passed = new Set<string>()
  let given = asked.state ? {} : asked.responses
  for await (const now of followAsked(work, run, { asking, left, signal, open })) {
    const waited = isWaitingForInput(run)
    run = now
    await report(run)
    if (isActive(run.status) && isWaitingForInput(run)) {
      if (Object.keys(given).length > 0) {
        // Answers that came with the call itself.
        const open = await loadPendingQuestions(work, run)
        const responder = responderOf(context.caller)
        await answerInput(withoutAnswer(work), run, responder, given, { isClient: true }).catch(unlessEnded)
        given = {}
        run = await loadRun(work, run)
        if (!isWaitingForInput(run)) {
          const [step] = open.slice(-1)
          if (step && !isTask) wake(context, resumeAwaitedRun(work, run, step.step_id))
          continue
        }
      }
      const answer = await passOn(context, asked, started, run, passed)
      if (answer) return answer
    } else if (waited && isActive(run.status) && !isTask) {
      const [step] = [...passed].slice(-1)
      if (step !== undefined) wake(context, resumeAwaitedRun(work, run, step))
    }
  }
  if (isActive(run.status)) {
    if (signal.aborted) {
      await cancelAsked(work, run)
      open?.drop()
      return { status: 'closed' }
    }
    if (isTask) return becomeTask(inner, started, asked)
    if (isPerson(context.caller)) return { status: 'running', run_id: run.id }
    run = await cancelAsked(work, run)
    open?.drop()
    if (run.is_detached && run.status === 'cancelled') throw tooSlow()
  }
  const { agent } = started.asked
  const ended = run.is_detached ? run : inTime(run)
  const [result, shape] = await Promise.all([
    presentAnswer(work, agent, asked.tool.tool, ended),
    loadShape(work, ended, '$mcp'),
  ])
  const content = contentOf(shape)
  const answer: AskAnswer = { status: 'ended', run_id: run.id, result, ...(content && { content }) }
  return storeFollowedAsk<AskAnswer>(inner, asking, asked.given, result, answer)
}

const tooSlow = () => fail('chain_budget_exceeded', { message: 'The agent didn’t answer within 120 seconds.' })

/**
 * Passes a run's questions on to the client: as the result of the call, or, in the older versions, as requests on its
 * stream. A run whose questions the client doesn't take is cancelled.
 * @returns undefined while the stream waits for responses
 */
const passOn = async (
  { work, caller, lane, outbox }: CallContext,
  { called }: AskedTool,
  { asking }: Started,
  run: Run,
  passed: Set<string>,
): Promise<AskAnswer | undefined> => {
  const pending = await loadPendingQuestions(work, run)
  const isNew = pending.filter(({ step_id }) => !passed.has(step_id))
  const [last] = pending.slice(-1)
  if (!last || isNew.length === 0) return undefined
  const questions = (lane.isModern ? pending : isNew).map((each) => each.questions)
  const requests = requestsFor(lane, questions)
  if (Object.keys(requests).length === 0 || (!lane.isModern && !outbox.isOpen)) {
    await cancelAsked(work, run)
    const asked = requestsOf(questions)
    const question = asked.flatMap(({ params: { message } }) => (typeof message === 'string' ? message : [])).join(' ')
    return { status: 'undeclared', needed: neededFor(asked), run_id: run.id, question }
  }
  if (lane.isModern) {
    const { id: run_id, installation_id } = run
    const state = { run_id, installation_id, step_id: last.step_id, ...(asking && { asking: asking.id }) }
    return { status: 'asked', inputRequests: requests, requestState: await sealState(work, caller, called, state) }
  }
  for (const { step_id } of isNew) passed.add(step_id)
  for (const [key, { method, params }] of Object.entries(requests))
    outbox.push({ jsonrpc: '2.0', id: `${run.id}:${key}`, method, params })
  return undefined
}

/** @throws {McpError} for an agent that is broken, a closed stream, and capabilities that the client lacks */
export const renderAsk = ({ lane, work: { settings } }: CallContext, answer: AskAnswer): Result => {
  switch (answer.status) {
    case 'ended':
      return resultOfAgent(answer.result, answer.run_id, answer.content)
    case 'task':
      return { ...runTask(answer.run_id, answer.created_at, answer.created_at), resultType: 'task' }
    case 'asked': {
      const { inputRequests, requestState } = answer
      return { resultType: 'input_required', inputRequests, requestState }
    }
    case 'undeclared': {
      const { needed, run_id, question } = answer
      const asked =
        question === '' ? '' : `The agent asks: “${truncate(cleanText(question), LIMITS.agentErrorCharacters)}” `
      const instead = `${asked}Its run was cancelled. ${askInConsole(settings, run_id)}`
      if (lane.isModern) throw missingCapabilities(lane, needed, instead)
      return failed(`${missingCapabilities(lane, needed, instead).message} (input_required)`, {
        error_code: 'input_required',
        error_message: `The client can’t answer the agent’s questions: it didn’t declare ${namesOf(needed)}.`,
      })
    }
    case 'running': {
      const { run_id } = answer
      return resultOfTool({ status: 'ok', result: { status: 'running', run_id, note: 'Read it later with get_run.' } })
    }
    case 'closed':
      throw new McpError(MCP_ERRORS.internalError, 'The client closed the stream, so the call was cancelled.')
  }
}
