import type { OutgoingFailure } from '../../kernel/ports/outgoing-http.ts'
import { failureHint } from './hints.ts'

/** Progress of a request. Before `waiting`, no byte of it was sent. */
export type Stage = 'resolving' | 'connecting' | 'securing' | 'waiting' | 'reading'

export type Failure = Omit<OutgoingFailure, 'durationMs'>

export const failure = (
  phase: Failure['phase'],
  stage: Stage,
  message: string,
  more: { code?: string | undefined; status?: number | undefined } = {},
): Failure => ({
  kind: 'failure',
  phase,
  sent: stage === 'waiting' || stage === 'reading',
  ...(more.status === undefined ? {} : { status: more.status }),
  ...(more.code === undefined ? {} : { code: more.code }),
  message,
  hint: failureHint(phase, more.code),
})

const TIMEOUT_MESSAGES: Record<Stage, string> = {
  resolving: 'The host name was not resolved in time.',
  connecting: 'No connection was established in time.',
  securing: 'The TLS handshake did not finish in time.',
  waiting: 'The request was sent, but no response arrived in time.',
  reading: 'The response started but did not finish in time.',
}

export const timedOut = (stage: Stage, status?: number): Failure =>
  failure('timeout', stage, TIMEOUT_MESSAGES[stage], { status })

export const dropped = (stage: Stage, status?: number): Failure =>
  failure('dropped', stage, 'The platform stopped waiting for the response.', { status })

/** Converts a Node error to a failure. Its text may hold addresses, so only its code is passed on. */
export const failureFrom = (error: unknown, stage: Stage, status?: number): Failure => {
  const code = codeOf(error)
  const phase = phaseOf(code, stage)
  const suffix = code === undefined ? '' : ` (${code})`
  return failure(phase, stage, `${PHASE_MESSAGES[phase]}${suffix}.`, { code, status })
}

const PHASE_MESSAGES: Record<Failure['phase'], string> = {
  blocked: 'The request is not allowed',
  dns: 'The host name could not be resolved',
  connect: 'The connection could not be established',
  tls: 'The TLS connection could not be established',
  timeout: 'The receiver took too long',
  reset: 'The connection was closed before the response was complete',
  too_large: 'The response headers are too large',
  decode: 'The response is not valid HTTP',
  dropped: 'The platform stopped waiting for the response',
}

const phaseOf = (code: string | undefined, stage: Stage): Failure['phase'] => {
  if (stage === 'resolving') return 'dns'
  if (stage === 'connecting') return 'connect'
  if (stage === 'securing') return 'tls'
  if (code === 'HPE_HEADER_OVERFLOW') return 'too_large'
  if (code?.startsWith('HPE_')) return 'decode'
  // An alert after the handshake, such as a request for a client certificate.
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL_')) return 'tls'
  return 'reset'
}

const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}
