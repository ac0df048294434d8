import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '#shared/kernel/errors.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { type Answer, newAgent, sandboxToken, send } from './support.ts'
import { usingLocal } from './using-local.ts'

const running = usingLocal()

const call = (method: string, to: string, sent?: Parameters<typeof send>[3]) => send(running.baseUrl, method, to, sent)

/** Asserts the platform's error body, whether a function or the gateway itself answered. */
const expectError = ({ status, body, headers, text }: Answer, ...codes: string[]): void => {
  const error = body?.error
  expect(error, `${status} ${text.slice(0, 300)}`).toBeTruthy()
  expect(codes).toContain(error.code)
  expect(status).toBe(ERRORS[error.code as keyof typeof ERRORS][0])
  expect(Object.keys(error).sort()).toEqual(['code', 'details', 'docs_url', 'fix', 'message', 'request_id'])
  expect(typeof error.details).toBe('object')
  expect(error.docs_url).toBe(`${running.baseUrl}/docs#${error.code}`)
  expect(headers.get('x-request-id')).toBe(error.request_id)
  expect(error.request_id.length).toBeGreaterThan(10)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
}

it('a request that offers HTTP/2 is answered without, as Java’s client sends it', async () => {
  const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAAAAIAAAAA' }
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
  const request = httpRequest(`${running.baseUrl}/connect/token`, { method: 'POST', headers: form })
  request.end('grant_type=refresh_token')
  const [response] = await once(request, 'response')
  response.resume()
  expect([response.statusCode, response.headers.upgrade]).toEqual([401, undefined])
})

describe('requests that no function answers', () => {
  it.each([
    ['a body over the gateway’s 10 MiB', 'x'.repeat(10 * 1024 * 1024 + 1)],
    ['a body over what a function takes', 'x'.repeat(7 * 1024 * 1024)],
  ])('%s is payload_too_large', async (_what, body) => {
    const answer = await call('POST', '/api/v1/runs', { body, headers: { 'content-type': 'application/json' } })
    expectError(answer, 'payload_too_large')
  })

  it.each([
    ['/api/v1/me', 'api'],
    ['/console/runs', 'console'],
    ['/console/me', 'console'],
    ['/oauth/scopes', 'oauth'],
    ['/api/v1/tools/workspace_info/invoke', 'api-calls'],
  ])('%s is unavailable, and says when to retry, if its function fails, dies or is throttled', async (to, name) => {
    const method = to.endsWith('invoke') ? 'POST' : 'GET'
    for (const errorType of ['Error', 'TooManyRequestsException']) {
      const off = running.platform.intercept(name, async () => ({
        kind: 'error',
        error: { errorType, errorMessage: 'secret detail', trace: [] },
      }))
      try {
        const answer = await call(method, to)
        expect(answer.text).not.toContain('secret detail')
        expectError(answer, 'unavailable')
        expect(answer.headers.get('retry-after')).toBe('1')
      } finally {
        off()
      }
    }
  })

  it('get a new request id each time', async () => {
    const body = 'x'.repeat(7 * 1024 * 1024)
    const ids = await Promise.all(
      [1, 2].map(async () => (await call('POST', '/api/v1/runs', { body })).headers.get('x-request-id')),
    )
    expect(new Set(ids).size).toBe(2)
  })
})

describe('paths that do not exist', () => {
  it.each([
    '/nothing',
    '/nothing/at/all',
    '/api',
    '/api/',
    '/api/v1',
    '/api/v1/',
    '/api/v2/me',
    '/api/v1/nothing',
    '/api/v1/dev',
    '/api/v1/dev/nothing',
    '/api/v1/runs/not-an-id',
    '/api/v1/runs/..%2f..%2fme',
    '/api/v1/runs/%ff',
    '/console',
    '/console/nothing',
    '/oauth',
    '/oauth/nothing',
    '/admin',
    '/admin/nothing',
    '/docs/nothing',
    '/.well-known/nothing',
    '/.well-known/openid-configuration',
    '/api/v1/tools/x/y/invoke',
    '/%00',
    '//',
  ])('GET %s is not_found', async (to) => {
    expectError(await call('GET', to), 'not_found', ...(to.includes('/runs/') ? ['unauthorized'] : []))
  })

  it('return not_found also when the request target isn’t normalized', async () => {
    for (const target of ['/api/v1/%', '/api/v1/me?%', `/${'a/'.repeat(2_000)}`]) {
      const status = await rawStatus(target)
      expect([401, 404, 422], target.slice(0, 40)).toContain(status)
    }
  })
})

describe('methods', () => {
  it.each([
    ['PUT', '/api/v1/runs', 'GET, HEAD, POST'],
    ['DELETE', '/api/v1/me', 'GET, HEAD'],
    ['GET', '/oauth/token', 'POST'],
    ['GET', '/admin/auth/login', 'POST'],
    ['PUT', '/console/me', 'GET, HEAD, PATCH, DELETE'],
    ['GET', '/api/v1/tools/workspace_info/invoke', 'POST'],
    ['POST', '/docs', 'GET, HEAD'],
  ])('%s %s is method_not_allowed with Allow', async (method, to, allow) => {
    const answer = await call(method, to)
    expectError(answer, 'method_not_allowed')
    expect(answer.headers.get('allow')).toBe(allow)
  })

  it('HEAD has the status and headers of GET, the length of the body among them, and no body', async () => {
    for (const to of ['/docs', '/openapi.json', '/api/v1/me', '/nothing', '/mcp', '/oauth/token']) {
      const [head, get] = [await call('HEAD', to), await call('GET', to)]
      expect(head.text).toBe('')
      expect(head.status, to).toBe(get.status)
      for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'allow'])
        expect(head.headers.get(name), `${name} of ${to}`).toBe(get.headers.get(name))
      expect(head.headers.get('x-request-id'), to).toBeTruthy()
    }
  })

  it('OPTIONS is a preflight at the APIs and nowhere else', async () => {
    const origin = { origin: 'https://anywhere.example', 'access-control-request-method': 'POST' }
    for (const to of ['/api/v1/runs', '/api/v1/dev/apps', '/api/v1/tools/http_fetch/invoke']) {
      const answer = await call('OPTIONS', to, { headers: origin })
      expect([answer.status, answer.headers.get('access-control-allow-origin')], to).toEqual([204, '*'])
    }
    for (const to of ['/console/me', '/admin/me', '/oauth/token']) {
      const answer = await call('OPTIONS', to, { headers: origin })
      expectError(answer, 'method_not_allowed')
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})

describe('the address of the MCP server', () => {
  it('may end with a slash', async () => {
    for (const to of ['/mcp/', '/mcp/agents/x/']) expect((await call('POST', to, { body: {} })).status).toBe(401)
    expect((await call('GET', '/.well-known/oauth-protected-resource/mcp/')).status).toBe(200)
  })
})

describe('answers that are streamed', () => {
  it('have status, headers and body like others', async () => {
    const receiver = await startReceiver()
    try {
      const agent = await newAgent(running.baseUrl, { endpoint: receiver.url })
      const token = await sandboxToken(running.baseUrl, agent)
      const to = '/api/v1/tools/workspace_info/invoke'
      const answer = await call('POST', to, { token, body: {} })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.body).toMatchObject({ status: 'ok' })
      expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
      expect(answer.headers.get('x-ratelimit-limit')).toBe('20')
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      expectError(await call('POST', to, { body: {} }), 'unauthorized')
      expectError(
        await call('POST', to, { token, body: '{"a":', headers: { 'content-type': 'application/json' } }),
        'bad_request',
      )
      expectError(await call('POST', '/api/v1/tools/no_such/invoke', { token, body: {} }), 'unknown_tool')
    } finally {
      await receiver.close()
    }
  })
})

describe('unusual requests', () => {
  it('a chunked body without a length is read', async () => {
    const url = new URL('/oauth/token.json', running.baseUrl)
    const request = httpRequest(url, { method: 'POST', headers: { 'content-type': 'application/json' } })
    for (const piece of ['{"grant', '_type":', '"x"}']) request.write(piece)
    request.end()
    const [response] = await once(request, 'response')
    response.resume()
    expect(response.statusCode).toBe(401)
  })

  it('repeated headers, a huge header and odd characters are answered below 500', async () => {
    const huge = await call('GET', '/api/v1/me', { headers: { authorization: `Bearer ${'a'.repeat(9_000)}` } })
    expectError(huge, 'unauthorized')
    const twice = await rawStatus('/api/v1/me', ['authorization: Bearer a', 'authorization: Bearer b'])
    expect(twice).toBe(401)
    const odd = await call('GET', '/api/v1/events?types=%00%ff&since=%E2%98%83', { token: 'x' })
    expectError(odd, 'unauthorized')
  })
})

/** Returns the status of a hand-written request, for bytes that clients would normalize. */
async function rawStatus(target: string, headers: string[] = []): Promise<number> {
  const { hostname, port } = new URL(running.baseUrl)
  const socket = connect(Number(port), hostname)
  socket.write([`GET ${target} HTTP/1.1`, `host: ${hostname}`, 'connection: close', ...headers, '', ''].join('\r\n'))
  let text = ''
  for await (const piece of socket) text += piece
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])
}
