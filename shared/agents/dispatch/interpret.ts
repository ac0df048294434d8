import type * as z from 'zod'
import type { OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { findUnstorable } from '#shared/kernel/storable.ts'
import { AgentAnswer } from '#shared/work/runs/index.ts'

/** Effect of an agent's answer to run.execute on the run (contract/runs.md#dispatch). */
export type AnswerEffect =
  | { kind: 'accepted' }
  | { kind: 'answer'; answer: AgentAnswer }
  | { kind: 'failed'; error_code: 'agent_unreachable' | 'agent_invalid_response'; error_message: string }

const unreachable = (error_message: string): AnswerEffect => ({
  kind: 'failed',
  error_code: 'agent_unreachable',
  error_message,
})

const invalid = (error_message: string): AnswerEffect => ({
  kind: 'failed',
  error_code: 'agent_invalid_response',
  error_message,
})

export const interpretAnswer = (result: OutgoingResult): AnswerEffect => {
  // The body of a 202 is ignored, since none is required (contract/runs.md#agent-answers).
  if (result.status === 202) return { kind: 'accepted' }
  if (result.kind === 'failure') return unreachable(result.message)
  const { status, body, truncated, decodeError } = result
  if (status === 401 || status === 403) {
    return unreachable(
      `The agent refused the request with HTTP ${status}. Does it verify the signature with the signing secret of this app?`,
    )
  }
  if (status < 200 || status > 299) return unreachable(`The agent answered HTTP ${status} instead of 200 or 202.`)
  if (truncated) return invalid('The agent’s answer exceeds 1 MiB.')
  if (decodeError) return invalid(`The agent’s answer couldn’t be decoded: ${decodeError}.`)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return invalid(`The agent answered HTTP ${status} with a body that is not JSON.`)
  }
  const wrong = findUnstorable(value)
  if (wrong) return invalid(`The agent’s answer is unusable: ${wrong}`)
  const parsed = AgentAnswer().safeParse(value)
  if (parsed.success) return { kind: 'answer', answer: parsed.data }
  return invalid(`The agent’s answer is unusable: ${explain(value, parsed.error.issues[0])}`)
}

/** Explains why an answer isn't one, in the words of the contract instead of the validator's. */
const explain = (value: unknown, issue: z.core.$ZodIssue | undefined): string => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it must be a JSON object.'
  const [field, ...inner] = issue?.path ?? []
  if (field === undefined || field === 'status') return '`status` must be "succeeded" or "failed".'
  const at = [field, ...inner].join('.')
  return `\`${at}\` ${EXPECTED[inner.length === 0 ? String(field) : String(inner.at(-1))] ?? 'has a value of the wrong type'}.`
}

/** Expected values of an answer's fields (contract/runs.md#agent-answers). */
const EXPECTED: Readonly<Record<string, string>> = {
  output: 'must be a JSON object',
  steps: 'must be a list of steps, each {type, output}',
  type: 'must be a text of 1 to 60 characters',
  cost_units: 'must be a number from 0',
  usage: 'must be {input_tokens, output_tokens}',
  input_tokens: 'must be a whole number from 0',
  output_tokens: 'must be a whole number from 0',
  cached_tokens: 'must be a whole number from 0',
  reasoning_tokens: 'must be a whole number from 0',
  estimated: 'must be true or false',
  cost_usd: 'must be a number from 0',
  error_code: 'must be a code of lower-case letters, digits and underscores, up to 60 characters',
  error_message: 'must be a text',
}
