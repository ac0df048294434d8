import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import type { ModelAnswer, ModelFailure } from '#shared/kernel/ports/language-model.ts'
import type { RunErrorCode } from '#shared/kernel/run-errors.ts'
import type { TokenUsage } from '#shared/kernel/token-usage.ts'
import { type Completion, finishIf, type RunKey, tokensOf } from '#shared/work/runs/index.ts'

/** Maximum length of a turn's text in its step. It fits the step limit of 16 KiB however the text is escaped. */
const SHOWN_TEXT = 2_000

/** Texts up to this many bytes are shown in full. */
const WHOLE_TEXT = 12_000

/** The step of one turn: the model's text and its token usage. */
export const messageStep = ({ text, calls, usage }: ModelAnswer) => ({
  type: 'message',
  output: {
    ...shown(text),
    ...(calls.length > 0 && { tools: calls.slice(0, 20).map(({ tool }) => tool.slice(0, 100)) }),
    usage,
  },
})

const shown = (text: string) =>
  Buffer.byteLength(JSON.stringify(text)) <= WHOLE_TEXT
    ? { text }
    : { text: text.slice(0, SHOWN_TEXT).toWellFormed(), truncated: true }

/** Ends the run successfully with the model's last answer. */
export const succeedRun = (work: WorkerWork, key: RunKey, used: TokenUsage, answer: ModelAnswer): Promise<void> =>
  end(work, key, used, {
    status: 'succeeded',
    output: outputOf(answer.text),
    steps: [messageStep(answer)],
  })

/** Fails the run because of an error of the model or its provider, and adds an error step. */
export const failRunWithModelError = (
  work: WorkerWork,
  key: RunKey,
  used: TokenUsage,
  error_code: RunErrorCode,
  { message, status, body }: Omit<ModelFailure, 'kind'>,
): Promise<void> =>
  end(work, key, used, {
    status: 'failed',
    error_code,
    error_message: body === undefined ? message : `${message} ${body.slice(0, 300).toWellFormed()}`,
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

/** Ends the run with its usage unless it already ended. If the last step doesn't fit, the run fails without the step. */
const end = async (work: WorkerWork, key: RunKey, usage: TokenUsage, outcome: Completion): Promise<void> => {
  // One unit per token, however the run ends: the provider has charged for them.
  const spent = { cost_units: tokensOf(usage), usage }
  try {
    await finishIf(work, key, () => true, { ...outcome, ...spent })
  } catch (error) {
    if (!(error instanceof PlatformError) || (error.code !== 'too_many_steps' && error.code !== 'payload_too_large')) {
      throw error
    }
    const { code: error_code, message: error_message } = error
    await finishIf(work, key, () => true, { status: 'failed', error_code, error_message, ...spent })
  }
}

/** Parses the answer as a JSON object, also inside a Markdown fence; otherwise returns its text. */
const outputOf = (text: string): Record<string, unknown> => {
  const bare = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text
  try {
    const value: unknown = JSON.parse(bare)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Not JSON, so it is plain text.
  }
  return { text }
}
