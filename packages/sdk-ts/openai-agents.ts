import { approveCall, outputOf, promptOf, reportCall } from './framework.ts'
import type { Run } from './run.ts'

/** The parts of the OpenAI Agents SDK that are used, so that their types need no package. */
interface Interruption {
  name?: string | undefined
  arguments?: string | undefined
  rawItem: { callId?: string; id?: string }
}
interface State {
  approve(item: Interruption): void
  reject(item: Interruption): void
}
interface Result {
  finalOutput?: unknown
  interruptions?: readonly Interruption[]
  state: State
}
interface Call {
  toolCall: { name?: string; arguments?: string }
}
interface RunnerLike {
  on(
    event: 'agent_tool_start',
    listener: (context: unknown, agent: unknown, tool: unknown, call: Call) => void,
  ): unknown
  run(agent: unknown, input: unknown, options: unknown): Promise<unknown>
}

export interface OpenAiAgentsOptions {
  /** The class `Runner` of `@openai/agents`. Each run gets a runner of its own. */
  Runner: new (
    ...config: never[]
  ) => object
  /** Configuration of the runners, such as `model`. */
  config?: object
  /** The input for a run: a text or items. Default: the text in the input, or the input as JSON. */
  prompt?(run: Run): string | readonly unknown[]
  /** The context that the agent's tools get. */
  context?(run: Run): unknown
}

/**
 * Runs an agent of the OpenAI Agents SDK: `createAgent({ secret, onRun: openAiAgents(agent, { Runner }) })`.
 *
 * The tools that it calls are the run's steps. Tools with `needsApproval` ask the people of the workspace. The final output is the
 * run's output, and a cancelled run aborts its requests.
 */
export const openAiAgents =
  (agent: object, { Runner, config, prompt = promptOf, context }: OpenAiAgentsOptions) =>
  async (run: Run): Promise<Record<string, unknown>> => {
    const runner = new (Runner as unknown as new (config: object | undefined) => RunnerLike)(config)
    const reports: Promise<void>[] = []
    runner.on('agent_tool_start', (_context, _agent, _tool, { toolCall }) => {
      const report = reportCall(run, toolCall.name ?? 'tool', parsed(toolCall.arguments))
      // An error is thrown below. Until then, it isn't unhandled.
      report.catch(() => {})
      reports.push(report)
    })
    const { signal } = run
    const begin = { signal, ...(context && { context: context(run) }) }
    let result = (await runner.run(agent, prompt(run), begin)) as Result
    while (result.interruptions && result.interruptions.length > 0) {
      for (const item of result.interruptions) {
        const key = item.rawItem.callId ?? item.rawItem.id ?? item.name ?? ''
        const approved = await approveCall(run, key, item.name ?? 'a tool', item.arguments ?? '{}')
        if (approved) result.state.approve(item)
        else result.state.reject(item)
      }
      // The state has the context, with the decisions in it.
      result = (await runner.run(agent, result.state, { signal })) as Result
    }
    await Promise.all(reports)
    return outputOf(result.finalOutput ?? '')
  }

const parsed = (text = '{}'): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
