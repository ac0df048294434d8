import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net'
import type { OutgoingResponse } from '../../kernel/ports/outgoing-http.ts'
import { startTimeLimit } from '../../kernel/time-limit.ts'
import { type ReadBody, readBody } from './body.ts'
import { dropped, type Failure, failure, failureFrom, type Stage, timedOut } from './failures.ts'
import { statusHint } from './hints.ts'
import { hostOf } from './targets.ts'

export interface Exchange {
  url: URL
  /** Checked addresses, at least one. The socket connects to one of these. */
  addresses: string[]
  agent: http.Agent
  method: string
  headers: Record<string, string>
  body: Uint8Array | undefined
  maxResponseBytes: number
  decisiveStatus: number | undefined
  /** Time left in ms until a connection must be established. */
  connectMs: number
  /** Time left in ms until the response's last byte must arrive. */
  totalMs: number
  signal: AbortSignal | undefined
}

export type Outcome = Omit<OutgoingResponse, 'durationMs'> | Failure

export interface Exchanged {
  outcome: Outcome
  /** The request went over a kept-alive connection. */
  reused: boolean
}

/** Sends one request over one connection and reads the response to its end, or to a decisive status. Never rejects. */
export const exchange = (x: Exchange): Promise<Exchanged> => {
  const { promise, resolve: settle } = Promise.withResolvers<Exchanged>()
  let stage: Stage = 'connecting'
  let status: number | undefined
  let request: ClientRequest | undefined

  const tell = (outcome: Outcome) => settle({ outcome, reused: request?.reusedSocket ?? false })
  const finish = (outcome: Outcome) => {
    connectLimit.clear()
    totalLimit.clear()
    x.signal?.removeEventListener('abort', drop)
    tell(outcome)
    if (outcome.kind === 'failure') request?.destroy()
  }
  const fail = (error: unknown) => finish(failureFrom(error, stage, status))
  const late = () => finish(timedOut(stage, status))
  const drop = () => finish(dropped(stage, status))
  const connectLimit = startTimeLimit(x.connectMs, late)
  const totalLimit = startTimeLimit(x.totalMs, late)
  x.signal?.addEventListener('abort', drop, { once: true })

  try {
    request = open(x)
  } catch (error) {
    fail(error)
    return promise
  }
  watchConnection(request, x.url.protocol === 'https:', (reached) => {
    stage = reached
    if (reached === 'waiting') connectLimit.clear()
  })
  request.on('error', fail)
  // The request asks for no other protocol, so a response that switches protocols is invalid (RFC 9110 §7.8).
  request.on('upgrade', () => finish(failure('decode', stage, 'The response switches to another protocol.')))
  request.on('response', (response) => {
    stage = 'reading'
    status = response.statusCode
    // Keeps reading: closing the connection now might stop a server that still works on the request while it answers.
    if (status === x.decisiveStatus) tell(answer(response, { body: new Uint8Array(), truncated: false }))
    readBody(response, x.maxResponseBytes).then((read) => finish(answer(response, read)), fail)
  })
  request.end(x.body)
  return promise
}

const open = (x: Exchange): ClientRequest => {
  const secure = x.url.protocol === 'https:'
  return (secure ? https : http).request({
    protocol: x.url.protocol,
    host: hostOf(x.url),
    port: x.url.port === '' ? (secure ? 443 : 80) : Number(x.url.port),
    path: x.url.pathname + x.url.search,
    method: x.method,
    headers: x.headers,
    agent: x.agent,
    lookup: lookupOf(x.addresses),
    ...sharesOf(x),
    maxHeaderSize: 16_384,
    insecureHTTPParser: false,
  })
}

/**
 * Gives each address an equal share of the time to connect. After Node's 250 ms, a distant server would be given up for its IPv6
 * address, to which a Lambda function outside a VPC can't connect.
 */
const sharesOf = ({ connectMs, addresses }: Exchange): Pick<TcpNetConnectOpts, 'autoSelectFamilyAttemptTimeout'> => ({
  autoSelectFamilyAttemptTimeout: Math.ceil(connectMs / addresses.length),
})

/** Returns the checked addresses to `node:net`, so that it does not resolve the name again. */
const lookupOf = (addresses: string[]): LookupFunction => {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    if (options.all) callback(null, found)
    else callback(null, found[0]?.address ?? '', found[0]?.family)
  }
}

const watchConnection = (request: ClientRequest, secure: boolean, reached: (stage: Stage) => void): void => {
  request.on('socket', (socket) => {
    if (request.reusedSocket || (!secure && !socket.connecting)) return reached('waiting')
    socket.once('connect', () => reached(secure ? 'securing' : 'waiting'))
    if (secure) socket.once('secureConnect', () => reached('waiting'))
  })
}

const answer = (response: IncomingMessage, read: ReadBody): Outcome => {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  const status = response.statusCode ?? 0
  const hint = statusHint(status)
  return { kind: 'response', status, headers, ...read, ...(hint === undefined ? {} : { hint }) }
}
