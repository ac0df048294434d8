import type { Run } from './run.ts'

/** Names under which inputs usually have their text: `text` in chats, the others by custom. */
const TEXTS = ['text', 'prompt', 'question', 'message', 'query'] as const

/** The run's input as a prompt: its text, or all of it as JSON. If another agent calls a tool, the call. */
export const promptOf = ({ input, call }: Run): string => {
  if (call !== undefined) return `Carry out ${call.name} with these arguments: ${JSON.stringify(call.arguments)}`
  const text = TEXTS.map((name) => input[name]).find((value) => typeof value === 'string' && value !== '')
  return typeof text === 'string' ? text : JSON.stringify(input)
}

/** A result as a run's output, which is an object. */
export const outputOf = (result: unknown): Record<string, unknown> =>
  typeof result === 'object' && result !== null && !Array.isArray(result)
    ? (result as Record<string, unknown>)
    : typeof result === 'string'
      ? { text: result }
      : { result }

/** Steps have at most 16 KiB. Characters outside of ASCII take up to three bytes each. */
const MAX_STEP_CHARS = 5_000

/** Reports a call of one of the agent's own tools. */
export const reportCall = (run: Run, tool: string, args: unknown): Promise<void> =>
  run.step({
    type: 'tool_call',
    output: JSON.stringify(args ?? null).length > MAX_STEP_CHARS ? { tool } : { tool, arguments: args },
  })

/**
 * Asks people whether the agent may make a call. The question shows the whole call, because what can't be read can't be approved.
 * @param key of the call in the run
 */
export const approveCall = (run: Run, key: string, tool: string, args: unknown): Promise<boolean> =>
  run.approve(`May the agent call ${tool} with ${typeof args === 'string' ? args : JSON.stringify(args)}?`, {
    key: keyOf(key),
  })

/** Makes a framework's id a key of a question: 1 to 64 of `A-Za-z0-9_-`. */
export const keyOf = (id: string): string => id.replaceAll(/[^\w-]/g, '_').slice(-64) || 'call'
