import type { OutgoingFailure, OutgoingResponse } from '../ports.ts'
import type { AnswerMessage } from './message.ts'

type Failure = Omit<OutgoingFailure, 'durationMs'>
type Response = Omit<OutgoingResponse, 'durationMs'>

/** What a listener's answer is to whoever sent the request: the same as the network's. */
export const whatCame = (answer: AnswerMessage, maxBytes: number): Response | Failure => {
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
    'The listener could not connect to the address it forwards to.',
    'Start the server on your machine, or correct --forward-to.',
  ),
  timeout: failure(
    'timeout',
    'The listener forwarded the request, and no answer came in time.',
    'Answer sooner: run.execute with 202 at once, webhooks with any 2xx before you work on them.',
  ),
  reset: failure(
    'reset',
    'The connection was closed before the answer to the listener was complete.',
    'Look into the log of the server on your machine: it may have crashed.',
  ),
  decode: failure(
    'decode',
    'What the listener got as an answer is not valid HTTP.',
    'Look at what the server on your machine answers.',
  ),
}

/** Nobody answered: nobody took it, or whoever did was not heard of again. */
export const unanswered = (state: 'waiting' | 'taken' | 'answered' | 'over'): Failure =>
  state === 'waiting'
    ? failure(
        'connect',
        'The listener went away before it got the request.',
        'Listen again, or make the endpoint reachable; webhooks are tried again by themselves.',
      )
    : failure(
        'timeout',
        'The listener got the request, and no answer of it came in time.',
        'See whether the listener still runs and reaches the platform.',
      )
