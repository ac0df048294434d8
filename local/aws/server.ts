import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isNamedHere } from '../guard.ts'
import { AwsError, ConnectionLost } from './error.ts'
import { createForwarder } from './forward.ts'
import type { S3 } from './s3.ts'

/** A service that speaks AWS JSON. */
export interface JsonService {
  handle(operation: string, input: Record<string, unknown>, signal: AbortSignal): object | Promise<object>
}

/** One call to an AWS service, as a hook sees it. */
export interface AwsCall {
  service: 'sqs' | 'events' | 'secretsmanager' | 'monitoring' | 'dynamodb' | 's3'
  operation: string
  /** Which function called; `undefined` for calls from elsewhere, such as tests. */
  functionName: string | undefined
  input: Record<string, unknown>
  /** `before`: nothing is done yet; `after`: it is done and not answered. */
  phase: 'before' | 'after'
  /** Only after. */
  output?: Record<string, unknown>
}

/**
 * Looks at a call and may fail it: throwing an AwsError answers with it, a ConnectionLost with nothing. After the fact that
 * is a lost answer: what was asked for is done, the caller does not know it. What it returns after the fact is answered
 * instead (not for S3).
 */
export type AwsHook = (call: AwsCall) => HookAnswer | Promise<HookAnswer>

// biome-ignore lint/suspicious/noConfusingVoidType: most hooks only look, and return nothing
type HookAnswer = Record<string, unknown> | undefined | void

/** Every function's session token begins so; the name follows. It tells the endpoints who calls. */
export const TOKEN_PREFIX = 'local-function-'

type JsonServiceName = Exclude<AwsCall['service'], 's3'>

const TARGETS: Record<string, JsonServiceName> = {
  AmazonSQS: 'sqs',
  AWSEvents: 'events',
  secretsmanager: 'secretsmanager',
  GraniteServiceVersion20100801: 'monitoring',
  DynamoDB_20120810: 'dynamodb',
}

/** Where requests go. */
export interface Services {
  sqs: JsonService
  events: JsonService
  secretsmanager: JsonService
  monitoring: JsonService
  s3: S3
  /** DynamoDB's address: calls that come here are handed on to it, so that a hook sees them. */
  dynamodb: string
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

const asAwsError = (error: unknown): AwsError =>
  error instanceof AwsError ? error : new AwsError('InternalFailure', String(error), 500)

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
      const error = asAwsError(thrown)
      const code = error.code.split('#').at(-1) ?? error.code
      // SDKs made for SQS's older protocol take the code from this header.
      const query = service === 'sqs' ? { 'x-amzn-query-error': `${code};Sender` } : undefined
      const { code: __type, message, fields } = error
      answerJson(response, error.status, { __type, message, Message: message, ...fields }, query)
    }
  }
}

const handleS3 = (services: Services, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const hook = services.hook()
  const functionName = callerOf(request)
  return services.s3.handle(request, response, async (operation, input, phase) => {
    await hook?.({ service: 's3', operation, functionName, input, phase })
  })
}

/**
 * One HTTP server for all emulated services: the `X-Amz-Target` header names service and operation, all else is S3.
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
    if (!isNamedHere(request)) return void response.writeHead(403).end()
    const [prefix = '', operation = ''] = String(request.headers['x-amz-target'] ?? '').split('.')
    const service = TARGETS[prefix]
    const ready = services()
    if (!ready) answerXml(request, response, new AwsError('ServiceUnavailable', 'Starting', 503))
    else if (service) void handleJson(ready, request, response, service, operation)
    else handleS3(ready, request, response).catch((error) => answerXml(request, response, asAwsError(error)))
  })
  // A connection that the server closes while the SDK picks it from its pool would look like a fault of the platform.
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
