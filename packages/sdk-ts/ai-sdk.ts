import { approveCall, outputOf, promptOf, reportCall } from './framework.ts'
import type { Run } from './run.ts'

/** The parts of the AI SDK's results that are used, so that their types need no package. */
interface ApprovalRequest {
  type: string
  approvalId?: string
  isAutomatic?: boolean
  toolCall?: { toolName: string; input: unknown }
}
interface Result {
  text: string
  output: unknown
  content: readonly { type: string }[]
  responseMessages: readonly unknown[]
}
interface StepEnd {
  toolCalls: readonly { toolName: string; input: unknown }[]
}

/** An agent of the AI SDK 7, such as a `ToolLoopAgent`. */
export interface AiSdkAgent {
  // biome-ignore lint/suspicious/noExplicitAny: the call's options depend on the agent's own type parameters
  generate(options: any): PromiseLike<Result>
}

export interface AiSdkOptions {
  /** The prompt for a run, or its messages. Default: the text in the input, or the input as JSON. */
  prompt?(run: Run): string | readonly unknown[]
  /** Call options of the agent (`callOptionsSchema`). */
  options?(run: Run): unknown
}

/**
 * Runs an agent of the AI SDK: `createAgent({ secret, onRun: aiSdk(agent) })`.
 *
 * The tools that it calls are the run's steps. Tools that need a person's approval ask the people of the workspace. The agent's
 * text or structured output is the run's output, and a cancelled run aborts its requests.
 */
export const aiSdk =
  (agent: AiSdkAgent, { prompt = promptOf, options }: AiSdkOptions = {}) =>
  async (run: Run): Promise<Record<string, unknown>> => {
    const begin = prompt(run)
    let messages: readonly unknown[] = typeof begin === 'string' ? [{ role: 'user', content: begin }] : begin
    for (;;) {
      const result = await agent.generate({
        messages,
        abortSignal: run.signal,
        ...(options && { options: options(run) }),
        onStepEnd: async ({ toolCalls }: StepEnd) => {
          for (const { toolName, input } of toolCalls) await reportCall(run, toolName, input)
        },
      })
      const requests = (result.content as readonly ApprovalRequest[]).filter(
        ({ type, isAutomatic }) => type === 'tool-approval-request' && isAutomatic !== true,
      )
      if (requests.length === 0) return outputOf(structured(result) ?? result.text)
      const content = []
      for (const { approvalId = '', toolCall } of requests) {
        const approved = await approveCall(run, approvalId, toolCall?.toolName ?? 'a tool', toolCall?.input)
        content.push({ type: 'tool-approval-response', approvalId, approved })
      }
      messages = [...messages, ...result.responseMessages, { role: 'tool', content }]
    }
  }

/** Returns the output of an agent that has an output schema. The SDK throws for others. */
const structured = (result: Result): unknown => {
  try {
    return result.output
  } catch {
    return undefined
  }
}
