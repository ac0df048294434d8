import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { finished } from 'node:stream/promises'
import { DISK_FULL, type Disk } from '../disk.ts'
import { hasLocalHost, refuseHost } from '../same-origin.ts'
import { AwsError, ConnectionLost } from './error.ts'
import { createForwarder } from './forward.ts'
import { answerMailbox, type Mailbox } from './mailbox.ts'
import type { S3, S3Watch, SignedAddress } from './s3.ts'

/** A service that speaks AWS JSON. */
export interface JsonService {
  handle(operation: string, input: Record<string, unknown>, signal: AbortSignal): object | Promise<object>
}

/** One call to an AWS service, as a hook sees it. */
export interface AwsCall {
  service: 'sqs' | 'events' | 'secretsmanager' | 'monitoring' | 'dynamodb' | 's3'
  operation: string
  /** The calling function; `undefined` for other callers, such as tests. */
  functionName: string | undefined
  input: Record<string, unknown>
  /** `before`: the call has not run yet. `after`: it has run but is not answered. */
  phase: 'before' | 'after'
  /** Set only in the phase `after`. */
  output?: Record<string, unknown>
}

/**
 * Observes a call and may fail it. Throwing an AwsError answers with that error; a ConnectionLost closes the connection
 * without a response. In the phase `after`, that is a lost response: the operation is complete, but the caller doesn't
 * know. A value returned in that phase replaces the response (not for S3).
 */
export type AwsHook = (call: AwsCall) => HookAnswer | Promise<HookAnswer>

// biome-ignore lint/suspicious/noConfusingVoidType: most hooks only observe and return nothing
type HookAnswer = Record<string, unknown> | undefined | void

/**
 * Prefix of every function's session token, followed by the function's name. It tells the endpoints which function
 * calls.
 */
export const TOKEN_PREFIX = 'local-function-'

type JsonServiceName = Exclude<AwsCall['service'], 's3'>

const TARGETS: Record<string, JsonServiceName> = {
  AmazonSQS: 'sqs',
  AWSEvents: 'events',
  secretsmanager: 'secretsmanager',
  GraniteServiceVersion20100801: 'monitoring',
  DynamoDB_20120810: 'dynamodb',
}

/** The services that requests are dispatched to. */
export interface Services {
  sqs: JsonService
  events: JsonService
  secretsmanager: JsonService
  monitoring: JsonService
  s3: S3
  mailbox: Mailbox
  /** Management API of live connections. @returns false if the request isn't for it */
  connections: (request: IncomingMessage, response: ServerResponse) => boolean
  /** DynamoDB's address. Calls that arrive here are forwarded to it, so that a hook sees them. */
  dynamodb: string
  disk: Pick<Disk, 'notice'>
  hook: () => AwsHook | undefined
}

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces)
}

const callerOf = (request: IncomingMessage): string | undefined => {
  const token = String(request.headers['x-amz-security-token'] ?? '')
  return token.startsWith(TOKEN_PREFIX) ? token.slice(TOKEN_PREFIX.length) : undefined
}

const asAwsError = (error: unknown, disk: Services['disk']): AwsError => {
  if (error instanceof AwsError) return error
  // The name of an error after which the platform's functions answer 503, too.
  if (disk.notice(error)) return new AwsError('ServiceUnavailable', DISK_FULL, 503)
  return new AwsError('InternalFailure', String(error), 500)
}

const answerJson = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.0',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}

const escapeXml = (text: string) => text.replace(/[<>&]/g, (c) => `&#${c.charCodeAt(0)};`)

const answerXml = (request: IncomingMessage, response: ServerResponse, error: AwsError) => {
  request.resume()
  if (response.headersSent) {
    response.destroy()
    return
  }
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${error.code}</Code><Message>${escapeXml(error.message)}</Message><RequestId>${randomUUID()}</RequestId></Error>`
  response.writeHead(error.status, { 'content-type': 'application/xml' })
  response.end(request.method === 'HEAD' ? undefined : body)
}

const createJsonHandler = () => {
  let forward: ReturnType<typeof createForwarder> | undefined
  return async (
    services: Services,
    request: IncomingMessage,
    response: ServerResponse,
    service: JsonServiceName,
    operation: string,
  ) => {
    const abort = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) abort.abort()
    })
    try {
      const body = await readBody(request)
      const input = (body.length > 0 ? JSON.parse(body.toString('utf8')) : {}) as Record<string, unknown>
      const call: AwsCall = { service, operation, functionName: callerOf(request), input, phase: 'before' }
      const hook = services.hook()
      await hook?.(call)
      if (service === 'dynamodb') {
        forward ??= createForwarder(services.dynamodb)
        const answer = await forward(request, body)
        const changed = hook && (await hook({ ...call, phase: 'after', output: answer.json() }))
        if (changed) answerJson(response, answer.status, changed)
        else response.writeHead(answer.status, answer.headers).end(answer.body)
        return
      }
      const output = await services[service].handle(operation, input, abort.signal)
      const changed = await hook?.({ ...call, phase: 'after', output: output as Record<string, unknown> })
      answerJson(response, 200, changed ?? output)
    } catch (thrown) {
      if (thrown instanceof ConnectionLost) return void response.destroy()
      const error = asAwsError(thrown, services.disk)
      const code = error.code.split('#').at(-1) ?? error.code
      // SDKs for SQS's older protocol read the code from this header.
      const query = service === 'sqs' ? { 'x-amzn-query-error': `${code};Sender` } : undefined
      const { code: __type, message, fields } = error
      answerJson(response, error.status, { __type, message, Message: message, ...fields }, query)
    }
  }
}

/** Answers a request to S3. @param at as for {@link S3} */
export const handleS3 = (
  services: Pick<Services, 's3' | 'hook' | 'disk'>,
  request: IncomingMessage,
  response: ServerResponse,
  at?: SignedAddress,
): Promise<void> => {
  const hook = services.hook()
  const functionName = callerOf(request)
  const watch: S3Watch = async (operation, input, phase) => {
    await hook?.({ service: 's3', operation, functionName, input, phase })
  }
  return services.s3.handle(request, response, watch, at).catch(async (error) => {
    // A refused upload is read to its end. A proxy that sends `Connection: close` would see a broken connection instead.
    await finished(request.resume()).catch(() => undefined)
    answerXml(request, response, asAwsError(error, services.disk))
  })
}

/**
 * Starts one HTTP server for all emulated services. The `X-Amz-Target` header names service and operation; every other
 * request goes to S3.
 *
 * @param services where to dispatch to; queue addresses carry the port, so the services exist only after the server
 * @param port 0 for any free one
 * @throws the listen error, e.g. `EADDRINUSE`
 */
export const startAwsServer = async (
  services: () => Services | undefined,
  port: number,
): Promise<{ address: string; port: number; stop(): Promise<void> }> => {
  const handleJson = createJsonHandler()
  const server: Server = createServer((request, response) => {
    response.setHeader('x-amzn-requestid', randomUUID())
    if (!hasLocalHost(request)) return refuseHost(request, response)
    const [prefix = '', operation = ''] = String(request.headers['x-amz-target'] ?? '').split('.')
    const service = TARGETS[prefix]
    const ready = services()
    if (!ready) answerXml(request, response, new AwsError('ServiceUnavailable', 'Starting', 503))
    else if (ready.connections(request, response)) return
    else if (service) void handleJson(ready, request, response, service, operation)
    else
      answerMailbox(ready.mailbox, request, response)
        .then((answered) => (answered ? undefined : handleS3(ready, request, response)))
        .catch((error) => answerXml(request, response, asAwsError(error, ready.disk)))
  })
  // If the server closed a connection while the SDK picks it from its pool, that would look like a platform fault.
  server.keepAliveTimeout = 0
  server.requestTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const actual = (server.address() as AddressInfo).port
  return {
    address: `http://127.0.0.1:${actual}`,
    port: actual,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
