import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ApiModel } from '../template/model.ts'
import { ACCOUNT } from '../template/physical.ts'
import type { Match } from './routes.ts'

/** The known data of a request before a function sees it. */
export interface Exchange {
  /** `$context.requestId`. */
  requestId: string
  method: string
  /** Path as sent. */
  path: string
  query: string
  sourceIp: string
  receivedAt: Date
}

/** Headers between the client and the gateway, which API Gateway does not pass on. */
const HOP_BY_HOP = new Set([
  'connection',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-connection',
])

type Multi = Record<string, string[]>

const append = (target: Multi, name: string, value: string) => {
  const values = Object.hasOwn(target, name) ? (target[name] ?? []) : []
  Object.defineProperty(target, name, {
    value: [...values, value],
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

/** Returns the single-value twin of a multi-value map, with the last value of each name. */
const lastOf = (multi: Multi): Record<string, string> =>
  Object.fromEntries(Object.entries(multi).map(([name, values]) => [name, values.at(-1) ?? '']))

/** `Root=1-<epoch seconds>-<96 bits>`, in hex. */
const traceId = (date: Date): string =>
  `Root=1-${Math.floor(date.getTime() / 1_000).toString(16)}-${randomBytes(12).toString('hex')}`

const headersOf = (request: IncomingMessage, { sourceIp, receivedAt }: Exchange): Multi => {
  const headers: Multi = {}
  const names = new Map<string, string>()
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const raw = request.rawHeaders[i] ?? ''
    if (HOP_BY_HOP.has(raw.toLowerCase())) continue
    // Names keep the client's spelling; for a repeated name, the first spelling wins.
    const name = names.get(raw.toLowerCase()) ?? raw
    names.set(raw.toLowerCase(), name)
    append(headers, name, request.rawHeaders[i + 1] ?? '')
  }
  const forwarded = names.get('x-forwarded-for')
  const before = forwarded ? headers[forwarded]?.join(', ') : undefined
  if (forwarded) delete headers[forwarded]
  headers['X-Forwarded-For'] = [before ? `${before}, ${sourceIp}` : sourceIp]
  if (!names.has('x-amzn-trace-id')) headers['X-Amzn-Trace-Id'] = [traceId(receivedAt)]
  headers['X-Forwarded-Port'] ??= [request.headers.host?.split(':')[1] ?? '80']
  headers['X-Forwarded-Proto'] ??= ['http']
  return headers
}

/** Decodes a query text: `+` is a space, escapes are decoded, and invalid escapes stay as they are. */
const decodeQuery = (text: string): string => {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

const queryOf = (query: string): Multi | null => {
  const values: Multi = {}
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    append(values, decodeQuery(at < 0 ? pair : pair.slice(0, at)), at < 0 ? '' : decodeQuery(pair.slice(at + 1)))
  }
  return Object.keys(values).length > 0 ? values : null
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Formats `21/Nov/2026:10:15:30 +0000`. */
const requestTime = (date: Date): string => {
  const [year = '', month = '1', day = ''] = date.toISOString().slice(0, 10).split('-')
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${date.toISOString().slice(11, 19)} +0000`
}

/** Returns true if a media type is among the API's binary ones (exact, with a wildcard subtype, or all). */
export const isBinary = (api: ApiModel, mediaType: string | undefined): boolean => {
  const type = (mediaType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return api.binaryMediaTypes.some((given) => {
    const pattern = given.toLowerCase()
    return pattern === '*/*' || pattern === type || (pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1)))
  })
}

/**
 * Builds the event of a Lambda proxy integration of a REST API (payload version 1.0). The query is decoded; path and
 * path parameters are not. Header names keep the client's spelling, and a body of a binary media type is
 * base64-encoded.
 */
export const proxyEvent = (api: ApiModel, request: IncomingMessage, exchange: Exchange, match: Match, body: Buffer) => {
  const { requestId, method, path, receivedAt } = exchange
  const multiValueHeaders = headersOf(request, exchange)
  const multiValueQueryStringParameters = queryOf(exchange.query)
  const binary = body.length > 0 && isBinary(api, request.headers['content-type'])
  const host = request.headers.host ?? ''
  return {
    resource: match.resource.path,
    path,
    httpMethod: method,
    headers: lastOf(multiValueHeaders),
    multiValueHeaders,
    queryStringParameters: multiValueQueryStringParameters && lastOf(multiValueQueryStringParameters),
    multiValueQueryStringParameters,
    pathParameters: match.parameters,
    stageVariables: null,
    requestContext: {
      resourceId: match.resource.id,
      resourcePath: match.resource.path,
      httpMethod: method,
      extendedRequestId: Buffer.from(requestId).toString('base64').slice(0, 16),
      requestTime: requestTime(receivedAt),
      path,
      accountId: ACCOUNT,
      protocol: `HTTP/${request.httpVersion}`,
      stage: api.stage,
      domainPrefix: host.split('.')[0] ?? '',
      requestTimeEpoch: receivedAt.getTime(),
      requestId,
      identity: {
        cognitoIdentityPoolId: null,
        accountId: null,
        cognitoIdentityId: null,
        caller: null,
        sourceIp: exchange.sourceIp,
        principalOrgId: null,
        accessKey: null,
        cognitoAuthenticationType: null,
        cognitoAuthenticationProvider: null,
        userArn: null,
        userAgent: request.headers['user-agent'] ?? null,
        user: null,
      },
      domainName: host,
      apiId: api.id,
    },
    body: body.length === 0 ? null : body.toString(binary ? 'base64' : 'utf8'),
    isBase64Encoded: binary,
  }
}
