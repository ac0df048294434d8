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
  const [issue] = parsed.error.issues
  return invalid(`The agent’s answer is unusable: ${issue?.path.join('.') || 'body'}: ${issue?.message}.`)
}
