import type { OutgoingFailure, OutgoingResponse } from '#shared/kernel/ports/outgoing-http.ts'
import type { AnswerMessage } from './message.ts'

type Failure = Omit<OutgoingFailure, 'durationMs'>

type Response = Omit<OutgoingResponse, 'durationMs'>

/** Converts a listener's answer to the result that the sender would have had from the network. */
export const outgoingResultOf = (answer: AnswerMessage, maxBytes: number): Response | Failure => {
  if ('failure' in answer) return FAILURES[answer.failure]
  const { status, headers, truncated } = answer
  const body = Buffer.from(answer.body, 'base64')
  return {
    kind: 'response',
    status,
    headers,
    body: body.subarray(0, maxBytes),
    truncated: truncated || body.length > maxBytes,
  }
}

const failure = (phase: Failure['phase'], message: string, hint: string): Failure => ({
  kind: 'failure',
  phase,
  sent: phase !== 'connect',
  message,
  hint,
})

const FAILURES: Record<Extract<AnswerMessage, { failure: string }>['failure'], Failure> = {
  connect: failure(
    'connect',
    'The listener couldn’t connect to the address it forwards to.',
    'Start the server on your machine, or correct --forward-to.',
  ),
  timeout: failure(
    'timeout',
    'The listener forwarded the request but got no answer in time.',
    'Answer sooner: run.execute with 202 immediately, webhooks with any 2xx before you process them.',
  ),
  reset: failure(
    'reset',
    'The connection was closed before the answer to the listener was complete.',
    'Check the log of the server on your machine. It may have crashed.',
  ),
  decode: failure(
    'decode',
    'The listener received an answer that isn’t valid HTTP.',
    'Check the response of the server on your machine.',
  ),
}

/** The failure for a request that was never answered. A request that no listener took was never sent. */
export const unansweredFailure = (state: 'waiting' | 'taken' | 'answered' | 'over'): Failure =>
  state === 'waiting'
    ? failure(
        'connect',
        'The listener disconnected before it received the request.',
        'Start listening again or make the endpoint reachable. Webhooks are retried automatically.',
      )
    : failure(
        'timeout',
        'The listener received the request but didn’t answer in time.',
        'Check that the listener is still running and can reach the platform.',
      )
