import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unreadable } from '#local/gateway/refusals.ts'
import type { LogEntry, Platform } from '#local/platform.ts'
import { startFixture, temporaryFolder, until } from './support.ts'

const place = temporaryFolder()
let platform: Platform
const log: LogEntry[] = []

beforeAll(async () => {
  platform = await startFixture(place.folder, {
    env: { EXTRA: 'set' },
    shell: { KEYS_SECRET_ARN: 'x', HOME: '/root' },
  })
  platform.onLog((entry) => log.push(entry))
})
afterAll(async () => {
  await platform.stop()
  place.remove()
})

const call = (path: string, init: RequestInit = {}) => fetch(platform.baseUrl + path, init)
const jsonOf = async (answer: Response) => JSON.parse(await answer.text())
const eventOf = async (path: string, init: RequestInit = {}) => (await jsonOf(await call(path, init))).event

/** Sends a request with full control over the request line and the headers. */
const raw = (path: string, headers: string[] = [], host = 'localhost:3000') =>
  new Promise<string>((resolve, reject) => {
    const { hostname, port } = new URL(platform.baseUrl)
    const outgoing = request({ hostname, port, path, headers: ['Host', host, ...headers] }, async (answer) =>
      resolve(Buffer.concat(await answer.toArray()).toString()),
    )
    outgoing.once('error', reject).end()
  })

test('answers only to names of this machine: any other name is a page’s DNS rebinding', async () => {
  for (const host of [
    'rebound.example',
    'rebound.example:3000',
    '127.0.0.1.rebound.example',
    'localhost.rebound.example',
    '',
  ]) {
    const { error } = JSON.parse(await raw('/v1', [], host))
    expect(error).toMatchObject({ code: 'forbidden', docs_url: `${platform.baseUrl}/docs#forbidden` })
    expect([error.message, error.fix].join(' ')).toContain(`“${host}”`)
    expect(error.fix).toContain(`--base-url https://${host} (or BASE_URL)`)
    await until(() =>
      log.find((entry) => entry.kind === 'platform' && entry.message === `${error.message} ${error.fix}`),
    )
  }
  for (const host of ['127.0.0.1', 'localhost:3000', '[::1]:3000']) {
    expect(JSON.parse(await raw('/v1', [], host)).event.path, host).toBe('/v1')
  }
})

describe('a request that is refused before anything reads it has an answer as documented', () => {
  /** Sends bytes on a connection of their own, and returns what comes back. */
  const sent = async (bytes: string) => {
    const socket = connect(Number(new URL(platform.baseUrl).port), '127.0.0.1')
    socket.write(bytes)
    const [head = '', body = ''] = Buffer.concat(await socket.toArray())
      .toString()
      .split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), head, error: JSON.parse(body).error }
  }

  test.each([
    ['a head over 16 KB', `GET /v1 HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['no Host', 'GET /v1 HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', 'GET /v1 HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n', 400],
  ])('%s', async (_, bytes, status) => {
    const { head, error, ...answer } = await sent(bytes)
    expect(answer.status).toBe(status)
    expect(head.toLowerCase()).toContain('content-type: application/json')
    expect(error).toMatchObject({
      code: 'bad_request',
      message: expect.any(String),
      fix: expect.any(String),
      docs_url: `${platform.baseUrl}/docs#bad_request`,
      request_id: expect.any(String),
    })
  })

  test('a head that doesn’t arrive', () => {
    const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    const { status, body } = unreadable(late, platform.baseUrl)
    expect([status, JSON.parse(body).error.code]).toEqual(['408 Request Timeout', 'bad_request'])
  })
})

describe('the event', () => {
  test('has the decoded query with all of its values', async () => {
    const event = await eventOf('/v1?a=1&a=2&b=%20x+y&empty&bad=%zz')
    expect(event.queryStringParameters).toEqual({ a: '2', b: ' x y', empty: '', bad: '%zz' })
    expect(event.multiValueQueryStringParameters.a).toEqual(['1', '2'])
    expect((await eventOf('/v1')).queryStringParameters).toBeNull()
  })

  test('has the path and its parameters as sent', async () => {
    const event = await eventOf('/any/a%2Fb%20c/')
    expect(event).toMatchObject({
      path: '/any/a%2Fb%20c/',
      resource: '/{proxy+}',
      pathParameters: { proxy: 'any/a%2Fb%20c' },
      requestContext: { resourcePath: '/{proxy+}', stage: 'test', path: '/any/a%2Fb%20c/' },
    })
  })

  test('has header names as the client wrote them, with repeated ones combined', async () => {
    const { event } = JSON.parse(await raw('/v1', ['X-Thing', 'one', 'x-thing', 'two', 'X-Forwarded-For', '10.0.0.1']))
    expect(event.multiValueHeaders['X-Thing']).toEqual(['one', 'two'])
    expect(event.headers).toMatchObject({
      'X-Thing': 'two',
      Host: 'localhost:3000',
      'X-Forwarded-For': '10.0.0.1, 127.0.0.1',
    })
    expect(event.requestContext).toMatchObject({ identity: { sourceIp: '127.0.0.1' }, domainName: 'localhost:3000' })
    expect(Object.keys(event.headers)).not.toContain('Connection')
  })

  test('treats a header or parameter called __proto__ like any other', async () => {
    const { event } = JSON.parse(await raw('/v1?__proto__=x', ['__proto__', 'y']))
    expect(Object.entries(event.queryStringParameters)).toEqual([['__proto__', 'x']])
    expect(Object.entries(event.headers)).toContainEqual(['__proto__', 'y'])
  })

  test('has text unchanged and binary media types in base64', async () => {
    const body = Buffer.from([0, 1, 255])
    const binary = await eventOf('/up', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/octet-stream' },
    })
    expect(binary).toMatchObject({ isBase64Encoded: true, body: body.toString('base64') })
    const text = await eventOf('/up', {
      method: 'POST',
      body: '{"ü":1}',
      headers: { 'content-type': 'application/json' },
    })
    expect(text).toMatchObject({ isBase64Encoded: false, body: '{"ü":1}' })
    expect(await eventOf('/v1')).toMatchObject({ isBase64Encoded: false, body: null })
  })
})

describe('routing', () => {
  test.each([
    ['GET', '/', '/'],
    ['GET', '/v1', '/v1'],
    ['GET', '/v1/', '/v1'],
    ['DELETE', '/v1/nothing/here', '/{proxy+}'],
    ['POST', '/v1/live/deeper', '/{proxy+}'],
  ])('%s %s goes to %s', async (method, path, resource) => {
    expect((await eventOf(path, { method })).resource).toBe(resource)
  })

  test('a resource without the method doesn’t hide a greedy one that has it', async () => {
    expect(await eventOf('/v1/things/abc', { method: 'DELETE' })).toMatchObject({
      resource: '/{proxy+}',
      pathParameters: { proxy: 'v1/things/abc' },
    })
  })

  test('the gateway itself answers paths without a resource', async () => {
    const greedy = platform.model.api?.resources.find(({ path }) => path === '/{proxy+}')
    const methods = [...(greedy?.methods ?? [])]
    greedy?.methods.clear()
    try {
      for (const [method, path] of [
        ['DELETE', '/v1/things/abc'],
        ['GET', '/nowhere'],
      ] as const) {
        const answer = await call(path, { method })
        expect(answer.status).toBe(404)
        const { error } = await jsonOf(answer)
        expect(error).toMatchObject({ code: 'MISSING_AUTHENTICATION_TOKEN', message: 'Missing Authentication Token' })
      }
    } finally {
      for (const [name, method] of methods) greedy?.methods.set(name, method)
    }
  })
})

describe('answers of the gateway itself', () => {
  test('use the template of their class, with the request id in body and header', async () => {
    const answer = await call('/x?mode=throw')
    expect(answer.status).toBe(502)
    expect(answer.headers.get('x-static')).toBe('fixed')
    const { error } = await jsonOf(answer)
    expect(error).toEqual({
      code: 'INTEGRATION_FAILURE',
      message: 'Internal server error',
      id: answer.headers.get('x-request-id'),
      docs_url: `${platform.baseUrl}/docs`,
    })
  })

  test.each(['malformed', 'badHeader', 'big', 'crash'])('are 502 for a function that answers “%s”', async (mode) => {
    expect((await call(`/x?mode=${mode}`)).status).toBe(502)
    expect((await call('/v1')).status).toBe(200)
  })

  test('are 502 when the function exceeds its own timeout', async () => {
    expect((await call('/x?mode=hang')).status).toBe(502)
    const line = await until(() => log.find((entry) => entry.kind === 'function' && entry.line.includes('timed out')))
    expect(line).toMatchObject({ line: expect.stringContaining('Task timed out after 3.00 seconds') })
  })

  test.each([6.5, 11])('are 413 for a body of %d MiB', async (size) => {
    const answer = await call('/x', { method: 'POST', body: 'x'.repeat(size * 1024 * 1024) })
    expect(answer.status).toBe(413)
    expect((await jsonOf(answer)).error.code).toBe('REQUEST_TOO_LARGE')
  })
})

test('the gateway answers 504 when a function takes longer than its own timeout', async () => {
  const [method] = platform.model.api?.resources.find(({ path }) => path === '/{proxy+}')?.methods.values() ?? []
  if (!method) throw new Error('The fixture has no greedy route')
  const { timeoutMs } = method
  method.timeoutMs = 100
  try {
    const answer = await call('/x?mode=slow')
    expect([answer.status, (await jsonOf(answer)).error.message]).toEqual([504, 'Endpoint request timed out'])
  } finally {
    method.timeoutMs = timeoutMs
  }
})

describe('answers', () => {
  test('keep repeated headers and the name of WWW-Authenticate', async () => {
    const answer = await call('/x?mode=cookies')
    expect(answer.status).toBe(401)
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('are decoded from base64 for clients that accept a binary type, as in API Gateway', async () => {
    const ask = async (accept: string) =>
      Buffer.from(await (await call('/x?mode=binary', { headers: { accept } })).arrayBuffer())
    expect(await ask('application/octet-stream')).toEqual(Buffer.from([0, 255, 1]))
    expect(await ask('text/plain')).toEqual(Buffer.from('AP8B'))
  })

  test('have no body for HEAD', async () => {
    const answer = await call('/x', { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

describe('streamed routes', () => {
  const live = (mode?: string) => call('/v1/live', { method: 'POST', body: JSON.stringify({ mode }) })

  test('send each part as soon as it is written', async () => {
    const read = path.join(place.folder, 'read')
    const answer = await call('/v1/live', { method: 'POST', body: JSON.stringify({ until: read }) })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([202, 'text/event-stream'])
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    const parts: string[] = []
    for await (const part of answer.body ?? []) {
      parts.push(Buffer.from(part).toString())
      // The function writes the second part once the first was read.
      writeFileSync(read, '')
    }
    expect(parts).toEqual(['first\n', 'second\n'])
  })

  test('carry more than a buffered answer may', async () => {
    expect((await (await live('large')).arrayBuffer()).byteLength).toBe(64 * 128 * 1024 + 13)
  })

  test.each(['throw', 'raw', 'silent'])('are 502 for a handler that fails to send a status (“%s”)', async (mode) => {
    expect((await live(mode)).status).toBe(502)
  })

  test('are closed for the function when the client stops reading', async () => {
    const client = new AbortController()
    const answer = await call('/v1/live', {
      method: 'POST',
      body: JSON.stringify({ mode: 'watched' }),
      signal: client.signal,
    })
    expect(answer.status).toBe(202)
    client.abort()
    await until(() => log.find((entry) => entry.kind === 'function' && entry.line === 'nobody reads any more'))
  })

  test('are cut off when the function dies midway', async () => {
    const read = path.join(place.folder, 'read-before-death')
    const answer = await call('/v1/live', { method: 'POST', body: JSON.stringify({ mode: 'die', until: read }) })
    expect(answer.status).toBe(202)
    writeFileSync(read, '')
    await expect(answer.text()).rejects.toThrow()
  })
})

describe('the environment of a function', () => {
  test('is the template’s and Lambda’s, with AWS at loopback addresses, and contains nothing of this process', async () => {
    const env = await jsonOf(await call('/x?mode=env'))
    expect(env).toMatchObject({
      TABLE_NAME: platform.tableName,
      BASE_URL: platform.baseUrl,
      AWS_REGION: 'us-east-1',
      AWS_LAMBDA_FUNCTION_NAME: expect.stringContaining('Service-Api'),
      AWS_ENDPOINT_URL_SQS: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      EXTRA: 'set',
    })
    expect(env.KEYS_SECRET_ARN).toMatch(/^arn:/)
    expect(Object.keys(env)).not.toContain('PATH')
    expect(Object.keys(env)).not.toContain('HOME')
  })
})

test('each request is in the log with its function, status and time', async () => {
  await call('/v1?log')
  const entry = await until(() => log.findLast((each) => each.kind === 'access'))
  expect(entry).toMatchObject({ method: 'GET', path: '/v1', status: 200, functionName: 'api' })
})

test('with the option, WWW-Authenticate is renamed as API Gateway does', async () => {
  const other = temporaryFolder()
  const remapping = await startFixture(other.folder, { remapHeaders: true })
  try {
    const answer = await fetch(`${remapping.baseUrl}/x?mode=cookies`)
    expect(answer.headers.get('www-authenticate')).toBeNull()
    expect(answer.headers.get('x-amzn-remapped-www-authenticate')).toBe('Bearer')
  } finally {
    await remapping.stop()
    other.remove()
  }
})
