import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, newAgent, sandboxToken, send, until } from './support.ts'
import { usingLocal } from './using-local.ts'

/**
 * Attacks below HTTP against the local gateway, which uses `node:http` with its settings there. Results on framing,
 * header sizes and half-sent requests hold for the local run and the emulator's front. When deployed, CloudFront and
 * API Gateway read the bytes and pass only whole requests to a function. For functions, these tests prove the other
 * half: whatever path, header or body a gateway makes of such bytes, one request is one event, and no answer fails.
 */
let token: string
const running = usingLocal()
beforeAll(async () => {
  const agent = await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9/never' })
  token = await sandboxToken(running.baseUrl, agent)
})

interface Talk {
  /** Everything received until the connection ended. */
  text: string
  /** The status of each answer, in order. */
  statuses: number[]
  /** True if the gateway closed the connection on its own. */
  closed: boolean
}

/**
 * Sends raw bytes and reads until the other side closes.
 * @param patienceMs limits the wait for connections that may stay open
 */
const talk = async (bytes: string, patienceMs = 15_000): Promise<Talk> => {
  const { hostname, port } = new URL(running.baseUrl)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (piece) => {
    text += piece
  })
  // A reset by the gateway counts as closed.
  socket.on('error', () => {})
  const closed = once(socket, 'close').then(() => true)
  socket.write(bytes, 'latin1')
  const itself = await Promise.race([closed, sleep(patienceMs, false)])
  socket.destroy()
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  return { text, statuses, closed: itself }
}

const HOST = 'Host: localhost'
const lines = (...all: string[]): string => `${all.join('\r\n')}\r\n\r\n`
const get = (target: string, ...headers: string[]): string => lines(`GET ${target} HTTP/1.1`, HOST, ...headers)
const post = (target: string, ...headers: string[]): string => lines(`POST ${target} HTTP/1.1`, HOST, ...headers)
const JSON_TYPE = 'Content-Type: application/json'
/** Header of the smuggled request, which starts a run so that its effect can be counted. */
const authorized = () => `Authorization: Bearer ${token}`
const smuggled = () =>
  post('/api/v1/runs', authorized(), JSON_TYPE, 'Content-Length: 2', 'Connection: close').concat('{}')
const runs = async (): Promise<number> => (await patiently('/api/v1/runs?limit=100')).body.items.length
/** Repeats the request while the token's rate limit is used up. */
const patiently = (path: string): Promise<Answer> =>
  until(async () => {
    const answer = await send(running.baseUrl, 'GET', path, { token })
    return answer.status === 429 ? undefined : answer
  })

/** Ways to make two readers disagree about where a request ends (RFC 9112 §6.3, §11.2). */
const SHAPES: [what: string, bytes: () => string][] = [
  [
    'both a length and chunks',
    () => post('/oauth/token', 'Content-Length: 5', 'Transfer-Encoding: chunked').concat('0\r\n\r\n', smuggled()),
  ],
  [
    'chunks and then a length',
    () => post('/oauth/token', 'Transfer-Encoding: chunked', 'Content-Length: 5').concat('0\r\n\r\n', smuggled()),
  ],
  ['two lengths', () => post('/oauth/token', 'Content-Length: 0', 'Content-Length: 5').concat('hello', smuggled())],
  ['two lengths in one', () => post('/oauth/token', 'Content-Length: 0, 5').concat('hello', smuggled())],
  ['a length with a sign', () => post('/oauth/token', 'Content-Length: +5').concat('hello', smuggled())],
  ['a negative length', () => post('/oauth/token', 'Content-Length: -1').concat(smuggled())],
  ['a hexadecimal length', () => post('/oauth/token', 'Content-Length: 0x5').concat('hello', smuggled())],
  [
    'a length out of range',
    () => post('/oauth/token', 'Content-Length: 99999999999999999999').concat('hello', smuggled()),
  ],
  ['a length with a blank within', () => post('/oauth/token', 'Content-Length: 1 2').concat('hello', smuggled())],
  ['a blank before the colon', () => post('/oauth/token', 'Content-Length : 5').concat('hello', smuggled())],
  ['chunked, misspelt', () => post('/oauth/token', 'Transfer-Encoding: xchunked').concat('0\r\n\r\n', smuggled())],
  ['chunked twice', () => post('/oauth/token', 'Transfer-Encoding: chunked, chunked').concat('0\r\n\r\n', smuggled())],
  [
    'chunked and identity',
    () => post('/oauth/token', 'Transfer-Encoding: chunked, identity').concat('0\r\n\r\n', smuggled()),
  ],
  [
    'two transfer encodings',
    () => post('/oauth/token', 'Transfer-Encoding: chunked', 'Transfer-Encoding: x').concat('0\r\n\r\n', smuggled()),
  ],
  [
    'a folded transfer encoding',
    () => post('/oauth/token', 'Transfer-Encoding:', ' chunked', 'Content-Length: 5').concat('0\r\n\r\n', smuggled()),
  ],
  [
    'a transfer encoding after a tab',
    () => post('/oauth/token', 'Transfer-Encoding:\tchunked', 'Content-Length: 5').concat('0\r\n\r\n', smuggled()),
  ],
  [
    'a vertical tab before chunked',
    () => post('/oauth/token', 'Transfer-Encoding: \x0bchunked', 'Content-Length: 5').concat('0\r\n\r\n', smuggled()),
  ],
  [
    'a transfer encoding with a NUL',
    () => post('/oauth/token', 'Transfer-Encoding: chunked\0', 'Content-Length: 5').concat('0\r\n\r\n', smuggled()),
  ],
  ['a folded header', () => post('/oauth/token', 'X-A: b', ' c', 'Content-Length: 0').concat(smuggled())],
  ['an invalid chunk size', () => post('/oauth/token', 'Transfer-Encoding: chunked').concat('zz\r\n\r\n', smuggled())],
  [
    'a chunk size with a sign',
    () => post('/oauth/token', 'Transfer-Encoding: chunked').concat('+1\r\na\r\n0\r\n\r\n', smuggled()),
  ],
  [
    'a chunk size out of range',
    () => post('/oauth/token', 'Transfer-Encoding: chunked').concat('fffffffffffffffff\r\na\r\n0\r\n\r\n', smuggled()),
  ],
  [
    'a chunk longer than its size',
    () => post('/oauth/token', 'Transfer-Encoding: chunked').concat('1\r\nabc\r\n0\r\n\r\n', smuggled()),
  ],
  [
    'a chunk extension with a bare line feed',
    () => post('/oauth/token', 'Transfer-Encoding: chunked').concat('1;a\nb\r\nx\r\n0\r\n\r\n', smuggled()),
  ],
  [
    'a chunk that ends in a bare line feed',
    () => post('/oauth/token', 'Transfer-Encoding: chunked').concat('1\na\n0\n\n', smuggled()),
  ],
  ['bare line feeds', () => `POST /oauth/token HTTP/1.1\n${HOST}\nContent-Length: 5\n\nhello${smuggled()}`],
  ['bare carriage returns', () => `POST /oauth/token HTTP/1.1\r${HOST}\rContent-Length: 0\r\r${smuggled()}`],
  [
    'a carriage return within a value',
    () => post('/oauth/token', 'X-A: b\rContent-Length: 99', 'Content-Length: 0').concat(smuggled()),
  ],
  ['a NUL within a value', () => post('/oauth/token', 'X-A: b\0c', 'Content-Length: 0').concat(smuggled())],
  ['a header without a colon', () => post('/oauth/token', 'nonsense', 'Content-Length: 0').concat(smuggled())],
  ['a header without a name', () => post('/oauth/token', ': b', 'Content-Length: 0').concat(smuggled())],
  ['no Host', () => lines('GET /api/v1/me HTTP/1.1').concat(smuggled())],
  ['two Hosts', () => get('/api/v1/me', 'Host: evil.test').concat(smuggled())],
  ['another Host', () => lines('GET /api/v1/me HTTP/1.1', 'Host: evil.test', 'Connection: close').concat(smuggled())],
  ['an invalid version', () => lines('GET /api/v1/me HTTP/9.9', HOST).concat(smuggled())],
  ['no version', () => `GET /api/v1/me\r\n\r\n${smuggled()}`],
  ['an extra blank in the request line', () => lines('GET  /api/v1/me HTTP/1.1', HOST).concat(smuggled())],
  ['an invalid method', () => lines('GE(T /api/v1/me HTTP/1.1', HOST).concat(smuggled())],
  ['HTTP/2 by prior knowledge', () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${smuggled()}`],
  [
    'an upgrade to h2c',
    () =>
      get(
        '/api/v1/me',
        'Connection: Upgrade, HTTP2-Settings, close',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABk',
        'Content-Length: 0',
      ).concat(smuggled()),
  ],
  ['TLS', () => `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${smuggled()}`],
]
/** Readers agree on these: the second request is a request of its own, with its own credential. */
const PLAIN = new Set([
  'a transfer encoding after a tab',
  'a chunk extension with a bare line feed',
  'an extra blank in the request line',
])

describe(`${SHAPES.length} shapes of requests that smuggle a second one`, () => {
  let own = 0

  it.each(SHAPES)(
    '%s: a 400 or an ordinary answer, then the connection ends, and nothing smuggled is done',
    async (what, bytes) => {
      const { statuses, closed, text } = await talk(bytes())
      const context = `${what}: ${statuses} ${closed ? 'closed' : 'open'} ${text.slice(0, 200)}`
      for (const status of statuses) expect(status, context).toBeLessThan(500)
      expect(closed, context).toBe(true)
      if (PLAIN.has(what)) own += statuses.filter((status) => status === 201).length
      else expect(statuses.length, context).toBeLessThanOrEqual(1)
    },
  )

  it('only requests of their own started runs', async () => {
    expect(await runs()).toBe(own)
  })
})

describe('request targets', () => {
  const TARGETS = [
    'http://localhost/api/v1/me',
    'http://evil.test/api/v1/me',
    'https://evil.test/admin/me',
    '//evil.test/api/v1/me',
    '//api/v1/me',
    '/api//v1/me',
    '/api/v1/me/',
    '/api/v1/./me',
    '/console/../admin/me',
    '/docs/../admin/me',
    '/docs/%2e%2e/admin/me',
    '/docs/..%2fadmin/me',
    '/docs/%252e%252e/admin/me',
    '/docs/..;/admin/me',
    '/docs/..%5cadmin/me',
    '/docs/assets/../../../../etc/passwd',
    '/docs/assets/..%2f..%2f..%2f..%2fetc%2fpasswd',
    '/app/assets/%2e%2e%2f%2e%2e%2fpackage.json',
    '/staff/assets/..%2f..%2fpackage.json',
    '/api/v1/dev/sdk/examples/..%2f..%2f..%2fpackage.json',
    '/%61dmin/me',
    '/ADMIN/me',
    '/admin/me%00',
    '/admin/me%20',
    '/admin/me;x=y',
    '/admin/me.json',
    '/admin/me#x',
    '/admin\\me',
    '/api/v1/me?%',
    '/api/v1/me?a=%ff&b=%00',
    '/api/v1/\xff\xfe',
    '*',
    '/'.repeat(5_000),
    `/${'..%2f'.repeat(1_000)}`,
    `/api/v1/${'a'.repeat(7_000)}`,
  ]
  it(`${TARGETS.length} odd ones show nothing without a credential, and no local file`, async () => {
    for (const target of TARGETS) {
      const { statuses, text } = await talk(get(target, 'Connection: close'))
      const context = `${target.slice(0, 60)} ${statuses} ${text.slice(-200)}`
      expect(statuses.length, context).toBe(1)
      expect(statuses[0], context).toBeGreaterThanOrEqual(300)
      expect(statuses[0], context).toBeLessThan(500)
      expect(text, context).not.toMatch(/root:|"devDependencies"|evil\.test/)
    }
  })
})

describe('oversized and half-sent requests', () => {
  it('headers over the limit are answered with 431, and the connection ends', async () => {
    for (const header of [
      `X-A: ${'a'.repeat(20_000)}`,
      `${'a'.repeat(20_000)}: b`,
      Array.from({ length: 2_000 }, (_, n) => `X-${n}: ${n}`).join('\r\n'),
    ]) {
      const { statuses, closed } = await talk(get('/api/v1/me', header))
      expect([statuses, closed]).toEqual([[431], true])
    }
  })

  it('a body that never arrives and a head that never ends don’t affect other requests', async () => {
    const before = await runs()
    const halves = [
      post('/api/v1/runs', authorized(), JSON_TYPE, 'Content-Length: 100').concat('{"input":'),
      post('/api/v1/runs', authorized(), JSON_TYPE, 'Transfer-Encoding: chunked').concat('2\r\n{}\r\n'),
      `POST /api/v1/runs HTTP/1.1\r\n${HOST}\r\n${authorized()}\r\n`,
      'POST /api',
      '',
    ]
    const waiting = halves.map((half) => talk(half, 1_000))
    expect((await patiently('/api/v1/me')).status).toBe(200)
    for (const { statuses } of await Promise.all(waiting)) expect(statuses.filter((status) => status < 400)).toEqual([])
    expect(await runs()).toBe(before)
  })

  it('pipelined requests on a connection are answered in order, each on its own', async () => {
    const requests = [
      get('/api/v1/workspace', authorized()),
      get('/api/v1/me'),
      post('/oauth/token.json', JSON_TYPE, 'Content-Length: 2').concat('{}'),
      get('/nothing'),
      get('/api/v1/me', 'Connection: close'),
    ]
    await patiently('/api/v1/me')
    const { statuses } = await talk(requests.join(''))
    expect(statuses).toEqual([200, 401, 401, 404, 401])
  })

  it('Expect: 100-continue gets 100, and any other expectation is refused', async () => {
    const going = await talk(
      post('/oauth/token.json', JSON_TYPE, 'Content-Length: 2', 'Expect: 100-continue', 'Connection: close').concat(
        '{}',
      ),
    )
    expect(going.statuses).toEqual([100, 401])
    const other = await talk(
      post('/oauth/token.json', JSON_TYPE, 'Content-Length: 2', 'Expect: a-miracle', 'Connection: close').concat('{}'),
    )
    expect(other.statuses).toEqual([417])
  })

  it('a head without a body, and a trailer that names a header, add no header', async () => {
    const chunked = post(
      '/api/v1/runs',
      JSON_TYPE,
      'Transfer-Encoding: chunked',
      'Trailer: Authorization',
      'Connection: close',
    )
    const { statuses } = await talk(`${chunked}2\r\n{}\r\n0\r\n${authorized()}\r\n\r\n`)
    expect(statuses).toEqual([401])
  })

  it('two Authorization headers count as none, whichever comes first', async () => {
    for (const [one, two] of [
      [authorized(), 'Authorization: Bearer x'],
      ['Authorization: Bearer x', authorized()],
      [authorized(), authorized()],
    ] as const) {
      expect((await talk(get('/api/v1/me', one, two, 'Connection: close'))).statuses).toEqual([401])
    }
  })
})

describe('body bytes', () => {
  const raw = async (body: Uint8Array, headers: Record<string, string> = {}) => {
    const sent = { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers }
    const response = await fetch(`${running.baseUrl}/api/v1/webhooks`, {
      method: 'POST',
      headers: sent,
      body: Buffer.from(body),
    })
    return { status: response.status, text: await response.text() }
  }

  it('that are not UTF-8, or UTF-16, compressed or with a byte order mark: refused, or read as the text that they are', async () => {
    const json = '{"url":"x","events":[]}'
    for (const [what, body, headers] of [
      ['gzip', gzipSync(json), { 'content-encoding': 'gzip' }],
      ['undeclared gzip', gzipSync(json), {}],
      ['UTF-16', Buffer.from(json, 'utf16le'), {}],
      ['declared UTF-16', Buffer.from(json, 'utf16le'), { 'content-type': 'application/json; charset=utf-16' }],
      ['a byte order mark', Buffer.from(`\ufeff${json}`), {}],
      [
        'an overlong slash',
        Buffer.concat([Buffer.from('{"url":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('","events":[]}')]),
        {},
      ],
      [
        'a lone continuation',
        Buffer.concat([Buffer.from('{"url":"'), Buffer.from([0x80]), Buffer.from('","events":[]}')]),
        {},
      ],
      ['half a character', Buffer.concat([Buffer.from('{"url":"x'), Buffer.from([0xf0, 0x9f])]), {}],
      ['all byte values', Uint8Array.from({ length: 256 }, (_, n) => n), {}],
    ] as [string, Uint8Array, Record<string, string>][]) {
      const { status, text } = await until(async () => {
        const answer = await raw(body, headers)
        return answer.status === 429 ? undefined : answer
      })
      expect([400, 422], `${what} ${status} ${text.slice(0, 200)}`).toContain(status)
    }
  })
})

it('after all attacks the platform answers as before, and no function has died', async () => {
  const answer = await patiently('/api/v1/me')
  expect(answer.status, answer.text).toBe(200)
  const died = running.logs.filter(
    (entry) => entry.kind === 'function' && /Runtime exited|Task timed out|Uncaught/.test(entry.line),
  )
  expect(died).toEqual([])
})
