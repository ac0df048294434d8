import type { InlineRun } from '../../entities/inline.ts'
import { PlatformError } from '../../kernel/errors.ts'
import type { WorkerWork } from '../deps.ts'
import type { ModelAnswer, ModelFailure } from '../ports.ts'
import type { RunKey } from '../runs/change.ts'
import { failRun, finishIf } from '../runs/finish.ts'
import type { Completion } from '../runs/schemas.ts'

/** What the run used of the model so far. */
export type Used = Pick<InlineRun, 'input_tokens' | 'output_tokens'>

/** Characters of a turn's text that its step shows; a step holds 16 KiB, however the text is escaped. */
const SHOWN_TEXT = 2_000
/** Bytes of text that are shown whole. */
const WHOLE_TEXT = 12_000

/** The step of one turn: what the model said, and what it cost. */
export const messageStep = ({ text, calls, inputTokens, outputTokens }: ModelAnswer) => ({
  type: 'message',
  output: {
    ...shown(text),
    ...(calls.length > 0 && { tools: calls.slice(0, 20).map(({ tool }) => tool.slice(0, 100)) }),
    usage: { input_tokens: inputTokens, output_tokens: outputTokens },
  },
})

const shown = (text: string) =>
  Buffer.byteLength(JSON.stringify(text)) <= WHOLE_TEXT
    ? { text }
    : { text: text.slice(0, SHOWN_TEXT).toWellFormed(), truncated: true }

/** A run costs as many units as it used tokens. */
const costOf = ({ input_tokens, output_tokens }: Used): number => input_tokens + output_tokens

/** Ends the run with the model's last words. */
export const succeed = (work: WorkerWork, key: RunKey, used: Used, answer: ModelAnswer): Promise<void> =>
  end(work, key, {
    status: 'succeeded',
    output: outputOf(answer.text),
    cost_units: costOf(used),
    steps: [messageStep(answer)],
  })

/** Ends the run for what the model, or its provider, did. `failure` goes into a step of its own. */
export const failWith = (
  work: WorkerWork,
  key: RunKey,
  used: Used,
  error_code: string,
  { message, status, body }: Omit<ModelFailure, 'kind'>,
): Promise<void> =>
  end(work, key, {
    status: 'failed',
    error_code,
    error_message: body === undefined ? message : `${message} ${body.slice(0, 300).toWellFormed()}`,
    cost_units: costOf(used),
    steps: [
      {
        type: 'error',
        output: {
          code: error_code,
          message,
          ...(status !== undefined && { status }),
          ...(body !== undefined && { body }),
        },
      },
    ],
  })

/** The first end counts. What does not fit into the run any more fails it without its last step. */
const end = async (work: WorkerWork, key: RunKey, outcome: Completion): Promise<void> => {
  try {
    await finishIf(work, key, () => true, outcome)
  } catch (error) {
    if (!(error instanceof PlatformError) || (error.code !== 'too_many_steps' && error.code !== 'payload_too_large')) {
      throw error
    }
    await failRun(work, key, error.code, error.message)
  }
}

/** A JSON object where the model answered with one, also in a fence of Markdown; else its text. */
const outputOf = (text: string): Record<string, unknown> => {
  const bare = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text
  try {
    const value: unknown = JSON.parse(bare)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Words, then.
  }
  return { text }
}
