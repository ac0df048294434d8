import { AgentError } from './errors.ts'
import { approveCall, keyOf, outputOf, promptOf, reportCall } from './framework.ts'
import type { Run } from './run.ts'

/** A compiled graph of LangGraph, an agent of LangChain's `createAgent` included. */
export interface Graph {
  // biome-ignore lint/suspicious/noExplicitAny: the state is the graph's own
  stream(input: any, options: any): Promise<AsyncIterable<any>>
}

interface Interrupt {
  id?: string
  value: unknown
}

export interface LangGraphOptions {
  /** The class `Command` of `@langchain/langgraph`. Needed by graphs that use `interrupt`, which also need a checkpointer. */
  Command?: new (
    ...fields: never[]
  ) => unknown
  /** The graph's input for a run. Default: `messages` with the text in the input, or with the input as JSON. */
  input?(run: Run): unknown
  /** The run's output from the graph's last state. Default: `structuredResponse`, the last message's text, or the whole state. */
  output?(state: Record<string, unknown>): Record<string, unknown>
  /** The value that an interrupt gets. Default: people's answer to its text, or their decisions on the calls in it. */
  answer?(run: Run, value: unknown, key: string): Promise<unknown>
  /** More configuration of the graph, such as `recursionLimit`. */
  config?: { configurable?: Record<string, unknown> | undefined } & object
}

/**
 * Runs a graph: `createAgent({ secret, onRun: langGraph(graph) })`.
 *
 * The nodes that ran and the tools that were called are the run's steps. `interrupt` asks the people of the workspace, and goes on
 * with their answer. A cancelled run aborts the graph. The thread of the checkpointer is the run.
 */
export const langGraph =
  (
    graph: Graph,
    { Command, input = messagesOf, output = resultOf, answer = askPeople, config }: LangGraphOptions = {},
  ) =>
  async (run: Run): Promise<Record<string, unknown>> => {
    let next: unknown = input(run)
    // A node that asks twice has the same id both times.
    for (let round = 1; ; round++) {
      const options = { ...config, configurable: { ...config?.configurable, thread_id: run.id }, signal: run.signal }
      const { state, interrupts } = await pass(run, graph, next, options)
      if (interrupts.length === 0) return output(state)
      if (!Command) {
        throw new AgentError(
          'agent_misconfigured',
          'The graph asks people. Pass Command of @langchain/langgraph to langGraph().',
        )
      }
      const answers: Record<string, unknown> = {}
      for (const [n, { id = String(n), value }] of interrupts.entries()) {
        // Several interrupts of one node have one id, and take one answer at a time. The others come again.
        if (!(id in answers)) answers[id] = await answer(run, value, keyOf(`${round}_${id}`))
      }
      const [only, ...others] = interrupts
      // A graph with several interrupts takes the answers by their ids.
      next = new (Command as new (fields: object) => unknown)({
        resume: others.length === 0 ? answers[only?.id ?? '0'] : answers,
      })
    }
  }

/** Runs the graph until it ends or waits. */
const pass = async (run: Run, graph: Graph, input: unknown, options: object) => {
  let state: Record<string, unknown> = {}
  const interrupts: Interrupt[] = []
  for await (const [mode, chunk] of await graph.stream(input, { ...options, streamMode: ['updates', 'values'] })) {
    if (mode === 'values') {
      // When the graph waits, its state may be left out.
      if (!('__interrupt__' in chunk)) state = chunk
      continue
    }
    for (const [node, update] of Object.entries(chunk)) {
      if (node === '__interrupt__') interrupts.push(...(update as Interrupt[]))
      else await report(run, node, update)
    }
  }
  return { state, interrupts }
}

interface Message {
  content?: unknown
  text?: unknown
  tool_calls?: { name: string; args: unknown }[]
}

const messagesIn = (state: unknown): Message[] => {
  const { messages } = (state ?? {}) as { messages?: unknown }
  return Array.isArray(messages) ? messages : []
}

const report = async (run: Run, node: string, update: unknown): Promise<void> => {
  const calls = messagesIn(update).flatMap(({ tool_calls }) => tool_calls ?? [])
  for (const { name, args } of calls) await reportCall(run, name, args)
  if (calls.length === 0) await run.step({ type: 'node', output: { node } })
}

const messagesOf = (run: Run) => ({ messages: [{ role: 'user', content: promptOf(run) }] })

const resultOf = (state: Record<string, unknown>): Record<string, unknown> => {
  if (state.structuredResponse !== undefined) return outputOf(state.structuredResponse)
  const last = messagesIn(state).at(-1)
  if (last === undefined) return outputOf(state)
  return outputOf(typeof last.text === 'string' ? last.text : last.content)
}

interface Reviewed {
  actionRequests: { name: string; args: unknown }[]
  reviewConfigs?: { actionName: string; allowedDecisions?: string[] }[]
}

const isReviewed = (value: unknown): value is Reviewed => Array.isArray((value as Reviewed | null)?.actionRequests)

/** Calls that LangChain's human-in-the-loop middleware holds back are approved one by one. Anything else is a question. */
const askPeople = async (run: Run, value: unknown, key: string): Promise<unknown> => {
  if (isReviewed(value)) {
    const decisions = []
    for (const [n, { name, args }] of value.actionRequests.entries()) {
      const approved = await approveCall(run, `${key}_${n}`, name, args)
      if (!approved) requireRejectable(value, name)
      decisions.push({ type: approved ? 'approve' : 'reject' })
    }
    return { decisions }
  }
  const answered = await run.ask(questionIn(value), { key })
  return answered.action === 'accept' ? answered.content.text : null
}

/** @throws {AgentError} for a call that the agent doesn't go on without, if people refused it */
const requireRejectable = ({ reviewConfigs }: Reviewed, name: string): void => {
  const allowed = reviewConfigs?.find(({ actionName }) => actionName === name)?.allowedDecisions
  if (!allowed || allowed.includes('reject')) return
  throw new AgentError(
    'call_refused',
    `A person refused the call of ${name}, and the agent doesn’t continue without it.`,
  )
}

const questionIn = (value: unknown): string => {
  if (typeof value === 'string') return value
  const { question, message } = (value ?? {}) as { question?: unknown; message?: unknown }
  const text = question ?? message
  return typeof text === 'string' ? text : JSON.stringify(value)
}
