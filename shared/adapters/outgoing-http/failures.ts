import type { OutgoingFailure } from '#shared/domain/ports.ts'
import { failureHint } from './hints.ts'

/** How far a request has come. Before `waiting` no byte of it has left. */
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
  connecting: 'No connection was made in time.',
  securing: 'The TLS handshake was not finished in time.',
  waiting: 'The request was sent, and no answer came in time.',
  reading: 'The answer began, and did not end in time.',
}

export const timedOut = (stage: Stage, status?: number): Failure =>
  failure('timeout', stage, TIMEOUT_MESSAGES[stage], { status })

/** A failure from what Node threw. The texts of its errors hold addresses; only their codes are passed on. */
export const failed = (error: unknown, stage: Stage, status?: number): Failure => {
  const code = codeOf(error)
  const phase = phaseOf(code, stage)
  const suffix = code === undefined ? '' : ` (${code})`
  return failure(phase, stage, `${PHASE_MESSAGES[phase]}${suffix}.`, { code, status })
}

const PHASE_MESSAGES: Record<Failure['phase'], string> = {
  blocked: 'The request is not allowed',
  dns: 'The host name could not be resolved',
  connect: 'The connection could not be made',
  tls: 'The TLS connection could not be made',
  timeout: 'The receiver took too long',
  reset: 'The connection was closed before the answer was complete',
  too_large: 'The headers of the answer are too large',
  decode: 'The answer is not valid HTTP',
}

const phaseOf = (code: string | undefined, stage: Stage): Failure['phase'] => {
  if (stage === 'resolving') return 'dns'
  if (stage === 'connecting') return 'connect'
  if (stage === 'securing') return 'tls'
  if (code === 'HPE_HEADER_OVERFLOW') return 'too_large'
  if (code?.startsWith('HPE_')) return 'decode'
  // An alert after the handshake, such as the demand for a client certificate.
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL_')) return 'tls'
  return 'reset'
}

const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}
