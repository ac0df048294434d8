import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { HTTP_INTEGRATION_TYPE } from '../functions/protocol.ts'
import type { ApiModel } from '../template/model.ts'
import { type Exchange, isBinary } from './event.ts'

/** Validated status and headers of a function's result. */
interface Head {
  status: number
  headers: [string, string][]
}

/**
 * Headers that API Gateway renames in a function's response (developer guide, "Amazon API Gateway important notes").
 */
const REMAPPED = new Set(['www-authenticate', 'authorization', 'connection', 'content-md5', 'date', 'host', 'server'])
const DELIMITER = Buffer.alloc(8)
const MAX_PRELUDE_BYTES = 1024 * 1024

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)

/** Joins the two header maps. If a name is in both, the multi-value map wins. */
const headersOf = (result: Record<string, unknown>): [string, string][] | undefined => {
  const { headers = {}, multiValueHeaders = {} } = result
  if (!isObject(headers ?? {}) || !isObject(multiValueHeaders ?? {})) return undefined
  const multi = Object.entries((multiValueHeaders ?? {}) as Record<string, unknown>)
  const names = new Set(multi.map(([name]) => name.toLowerCase()))
  const pairs: [string, string][] = []
  for (const [name, values] of multi) {
    if (!Array.isArray(values) || !values.every(isScalar)) return undefined
    for (const value of values) pairs.push([name, String(value)])
  }
  for (const [name, value] of Object.entries((headers ?? {}) as Record<string, unknown>)) {
    if (names.has(name.toLowerCase())) continue
    if (!isScalar(value)) return undefined
    pairs.push([name, String(value)])
  }
  return pairs
}

const headOf = (result: unknown): Head | undefined => {
  if (!isObject(result)) return undefined
  const status = Number(result.statusCode)
  const headers = headersOf(result)
  const valid = ['number', 'string'].includes(typeof result.statusCode) && Number.isInteger(status)
  return valid && status >= 200 && status <= 599 && headers ? { status, headers } : undefined
}

const writeHead = (response: ServerResponse, exchange: Exchange, head: Head, remap: boolean) => {
  const grouped = new Map<string, string[]>()
  const types = new Set<string>()
  for (const [name, value] of head.headers) {
    const lower = name.toLowerCase()
    if (lower === 'transfer-encoding' || lower === 'content-length') continue
    // A browser that learnt it from a tunnel would refuse http to that host, whatever runs there later.
    if (lower === 'strict-transport-security') continue
    const sent = remap && REMAPPED.has(lower) ? `x-amzn-remapped-${lower}` : name
    grouped.set(sent, [...(grouped.get(sent) ?? []), value])
    types.add(lower)
  }
  response.statusCode = head.status
  response.setHeader('x-amzn-RequestId', exchange.requestId)
  response.setHeader('x-amz-apigw-id', exchange.requestId.slice(0, 16))
  if (!types.has('content-type')) response.setHeader('content-type', 'application/json')
  for (const [name, values] of grouped) response.setHeader(name, values.length === 1 ? (values[0] ?? '') : values)
}

/** Inputs of all replies. */
export interface ReplyOptions {
  api: ApiModel
  request: IncomingMessage
  response: ServerResponse
  exchange: Exchange
  remap: boolean
  isDiskFull: () => boolean
}

/** Returns true for an error that only says that something failed, although the full disk is the reason. */
const hidesFullDisk = ({ status }: Head, { isDiskFull }: ReplyOptions): boolean => status >= 500 && isDiskFull()

/**
 * Answers with a buffered result of a proxy integration.
 *
 * @returns false, with nothing written, if the gateway has to answer: the result is malformed, or hides that the disk is full
 */
export const replyBuffered = (options: ReplyOptions, result: unknown): boolean => {
  const { api, request, response, exchange, remap } = options
  const head = headOf(result)
  if (!head || hidesFullDisk(head, options)) return false
  const { body = '', isBase64Encoded } = result as { body?: unknown; isBase64Encoded?: unknown }
  if (body !== null && typeof body !== 'string') return false
  // Base64 is decoded only for clients that accept a binary type of the API. Others get the text.
  const accept = request.headers.accept?.split(',')[0]
  const decode = isBase64Encoded === true && isBinary(api, accept)
  const bytes = Buffer.from(body ?? '', decode ? 'base64' : 'utf8')
  try {
    writeHead(response, exchange, head, remap)
  } catch {
    // A header that HTTP does not allow.
    for (const name of response.getHeaderNames()) response.removeHeader(name)
    return false
  }
  if (head.status !== 204 && head.status !== 304) response.setHeader('content-length', bytes.length)
  response.end(request.method === 'HEAD' ? undefined : bytes)
  return true
}

/** Reads up to the eight zero bytes. */
const readPrelude = async (body: AsyncIterator<Buffer>): Promise<{ head: Head; rest: Buffer } | undefined> => {
  let buffered = Buffer.alloc(0)
  while (buffered.length <= MAX_PRELUDE_BYTES) {
    const at = buffered.indexOf(DELIMITER)
    if (at >= 0) {
      const head = headOf(JSON.parse(buffered.subarray(0, at).toString('utf8')))
      return head && { head, rest: buffered.subarray(at + DELIMITER.length) }
    }
    const { value, done } = await body.next()
    if (done) return undefined
    buffered = Buffer.concat([buffered, value])
  }
  return undefined
}

/**
 * Answers with a streamed result: the JSON prelude (`statusCode`, `headers`, `multiValueHeaders`, `cookies`), eight
 * zero bytes, then the body as it arrives.
 *
 * @returns false, with nothing written, if the gateway has to answer: there is no valid prelude, or it hides that the disk is full
 */
export const replyStreamed = async (options: ReplyOptions, contentType: string, body: Readable): Promise<boolean> => {
  const { response, exchange, remap, request } = options
  if (contentType !== HTTP_INTEGRATION_TYPE) {
    body.destroy()
    return false
  }
  const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let start: Awaited<ReturnType<typeof readPrelude>>
  try {
    start = await readPrelude(iterator)
  } catch {
    start = undefined
  }
  if (!start || hidesFullDisk(start.head, options)) {
    body.destroy()
    return false
  }
  const { head, rest } = start
  writeHead(response, exchange, head, remap)
  response.flushHeaders()
  // A disconnect is noticed at once, not with the next piece, which may take long to arrive.
  response.once('close', () => body.destroy())
  const pieces = async function* () {
    if (rest.length > 0) yield rest
    while (true) {
      const { value, done } = await iterator.next()
      if (done) return
      yield value
    }
  }
  try {
    if (request.method === 'HEAD') response.end()
    else await pipeline(pieces(), response)
  } catch {
    // The client has disconnected or the handler failed midway. Cutting the connection is the only signal that HTTP
    // still allows.
    response.destroy()
  } finally {
    body.destroy()
  }
  return true
}
