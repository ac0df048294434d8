import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createOutgoingHttp } from '#shared/adapters/outgoing-http/client.ts'
import type { OutgoingRequest } from '#shared/kernel/ports/outgoing-http.ts'
import { type Receiver, startReceiver } from '#testkit/receiver.ts'

const http = createOutgoingHttp({ allowLoopbackHttp: true })

const post = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: '{"a":1}',
  deadlineMs: 5_000,
  maxResponseBytes: 65_536,
  ...more,
})

const open: Receiver[] = []
const receiver = async (...options: Parameters<typeof startReceiver>): Promise<Receiver> => {
  const started = await startReceiver(...options)
  open.push(started)
  return started
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((r) => r.close()))
})

describe('a request that is answered', () => {
  test('is sent unchanged, and its answer is returned whole', async () => {
    const r = await receiver()
    r.answer({ kind: 'answer', status: 201, headers: { 'X-One': '1', 'Set-Cookie': 'a=b' }, body: 'grüße' })
    const result = await http.send(post(`${r.url}/hooks?x=1#part`, { body: '{"ü":"ß"}' }))
    expect(result).toMatchObject({ kind: 'response', status: 201, truncated: false, headers: { 'x-one': '1' } })
    expect(result.kind === 'response' && Buffer.from(result.body).toString()).toBe('grüße')
    expect(result.durationMs).toBeTypeOf('number')
    expect(r.requests).toMatchObject([
      {
        method: 'POST',
        path: '/hooks?x=1',
        headers: {
          host: `127.0.0.1:${r.port}`,
          'content-type': 'application/json',
          'content-length': '11',
          'accept-encoding': 'identity',
        },
      },
    ])
    expect(r.requests[0]?.body.toString()).toBe('{"ü":"ß"}')
  })

  test.each([404, 410, 429, 500, 503])('a status %d is an answer, not a failure', async (status) => {
    const r = await receiver()
    r.answer({ kind: 'answer', status })
    expect(await http.send(post(r.url))).toMatchObject({ kind: 'response', status, hint: expect.any(String) })
  })

  test('a redirect is not followed', async () => {
    const r = await receiver()
    r.answer({ kind: 'redirect', location: '/other' })
    expect(await http.send(post(r.url))).toMatchObject({ status: 302, headers: { location: '/other' } })
    expect(r.requests).toHaveLength(1)
  })

  test('bytes are sent unchanged', async () => {
    const r = await receiver()
    await http.send(post(r.url, { body: new Uint8Array([0, 255, 1]) }))
    expect([...(r.requests[0]?.body ?? [])]).toEqual([0, 255, 1])
  })
})

describe('reading stops at maxResponseBytes', () => {
  test('an answer of exactly that size is whole, one byte more is cut', async () => {
    const r = await receiver()
    r.next({ kind: 'answer', body: 'x'.repeat(100) }, { kind: 'answer', body: 'x'.repeat(101) })
    expect(await http.send(post(r.url, { maxResponseBytes: 100 }))).toMatchObject({ truncated: false })
    const cut = await http.send(post(r.url, { maxResponseBytes: 100 }))
    expect(cut).toMatchObject({ kind: 'response', status: 200, truncated: true })
    expect(cut.kind === 'response' && cut.body.byteLength).toBe(100)
  })

  test('an endless answer ends early', async () => {
    const r = await receiver()
    r.answer({ kind: 'endless' })
    const result = await http.send(post(r.url))
    expect(result).toMatchObject({ kind: 'response', truncated: true })
    expect(r.written).toBeLessThan(32 * 1024 * 1024)
  })

  test.each(['gzip', 'br', 'deflate', 'zstd'] as const)(
    'a %s bomb is decompressed only up to the limit',
    async (encoding) => {
      const r = await receiver()
      r.answer({ kind: 'bomb', encoding, bytes: 64 * 1024 * 1024 })
      const before = process.memoryUsage().arrayBuffers
      const result = await http.send(post(r.url))
      expect(result).toMatchObject({ kind: 'response', status: 200, truncated: true })
      expect(result.kind === 'response' && result.body.byteLength).toBe(65_536)
      expect(result.kind === 'response' && result.body.every((byte) => byte === 0)).toBe(true)
      // The receiver's own buffer of 64 MiB may still be counted. The client must not add that much again.
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(96 * 1024 * 1024)
    },
  )
})

describe('a decisive status', () => {
  const decisive = { decisiveStatus: 202, deadlineMs: 20_000 }

  /** Sends the head of a 202. Once the connection has ended, `whole` tells whether the rest could be sent, too. */
  const accepting = async (rest: (response: ServerResponse) => void) => {
    const { promise: whole, resolve } = Promise.withResolvers<boolean>()
    const server = createServer((_, response) => {
      response.on('close', () => resolve(response.writableFinished))
      response.writeHead(202, { 'x-one': '1' }).write('begun, ')
      rest(response)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, whole }
  }

  test('is returned with its headers, and the other side may finish its body', async () => {
    // It ends its body only after the answer is returned, and would have noticed a closed connection by then.
    const { promise: returned, resolve } = Promise.withResolvers<void>()
    const server = await accepting((response) => void returned.then(() => sleep(100)).then(() => response.end('done')))
    const result = await http.send(post(server.url, decisive))
    expect(result).toMatchObject({ kind: 'response', status: 202, headers: { 'x-one': '1' }, truncated: false })
    expect(result.kind === 'response' && result.body.byteLength).toBe(0)
    resolve()
    expect(await server.whole).toBe(true)
  })

  test.each<[what: string, rest: (response: ServerResponse) => void]>([
    ['at the deadline', () => {}],
    ['beyond maxResponseBytes', (response) => response.end(Buffer.alloc(20_000_000))],
  ])('is returned despite a body without end, which is cut off %s', async (_what, rest) => {
    const server = await accepting(rest)
    expect(await http.send(post(server.url, { ...decisive, deadlineMs: 1_000 }))).toMatchObject({ status: 202 })
    expect(await server.whole).toBe(false)
  })

  test('is only the given one: other answers wait for their body', async () => {
    const r = await receiver()
    r.answer({ kind: 'drip', everyMs: 20 })
    expect(await http.send(post(r.url, { ...decisive, deadlineMs: 300 }))).toMatchObject({ phase: 'timeout' })
  })
})

describe('content-encoding', () => {
  test.each(['gzip', 'br', 'deflate', 'zstd'] as const)('%s is decoded', async (encoding) => {
    const r = await receiver()
    r.answer({ kind: 'bomb', encoding, bytes: 1_000 })
    const result = await http.send(post(r.url))
    expect(result).toMatchObject({ truncated: false })
    expect(result).not.toHaveProperty('decodeError')
    expect(result.kind === 'response' && result.body.byteLength).toBe(1_000)
  })

  test.each([
    ['gzip', 'this is no gzip'],
    ['br', 'this is no brotli'],
    ['zstd', 'this is no zstd'],
    ['deflate', 'this is no deflate'],
    ['rot13', 'guvf vf ebg13'],
    ['gzip, gzip, gzip', 'nested'],
  ])('%s that can’t be decoded is still an answer with its status', async (encoding, body) => {
    const r = await receiver()
    r.answer({ kind: 'answer', headers: { 'content-encoding': encoding }, body })
    expect(await http.send(post(r.url))).toMatchObject({
      kind: 'response',
      status: 200,
      decodeError: expect.any(String),
    })
  })

  test('the answer to HEAD has no body to decode', async () => {
    const r = await receiver()
    r.answer({ kind: 'answer', headers: { 'content-encoding': 'br' } })
    const { body: _, ...head } = post(r.url, { method: 'HEAD' })
    const result = await http.send(head)
    expect(result).toMatchObject({ kind: 'response', status: 200 })
    expect(result).not.toHaveProperty('decodeError')
  })
})

describe('forbidden targets', () => {
  test('a loopback address is refused when the switch is off, and nothing arrives', async () => {
    const r = await receiver()
    const strict = createOutgoingHttp({ allowLoopbackHttp: false })
    for (const url of [r.url, `https://127.0.0.1:${r.port}`, `https://localhost:${r.port}`]) {
      expect(await strict.send(post(url))).toMatchObject({ kind: 'failure', phase: 'blocked', sent: false })
    }
    expect(r.connections).toBe(0)
  })

  test.each([
    [['127.0.0.1']],
    [['10.1.2.3']],
    [['169.254.169.254']],
    [['::1']],
    [['fd00:ec2::254']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['8.8.8.8', '127.0.0.1']],
    [['127.0.0.1', '8.8.8.8']],
    [['2606:4700:4700::1111', 'fe80::1']],
  ])('a name that resolves to %j is refused, regardless of the switch', async (addresses) => {
    const r = await receiver()
    for (const allowLoopbackHttp of [true, false]) {
      const client = createOutgoingHttp({ allowLoopbackHttp, resolve: async () => addresses })
      const result = await client.send(post(`https://hooks.example.com:${r.port}/`, { connectRetryPausesMs: [1, 1] }))
      expect(result).toMatchObject({ kind: 'failure', phase: 'blocked', sent: false })
      expect(JSON.stringify(result)).not.toContain(addresses.find((address) => address !== '8.8.8.8'))
    }
    expect(r.connections).toBe(0)
  })

  test('localhost that resolves to another address is refused', async () => {
    const client = createOutgoingHttp({
      allowLoopbackHttp: true,
      resolve: async () => ['127.0.0.1', '169.254.169.254'],
    })
    expect(await client.send(post('http://localhost:1/'))).toMatchObject({ phase: 'blocked', sent: false })
  })

  test('a name is resolved once per request, so that a second answer can’t differ', async () => {
    const r = await receiver()
    const answers = [['127.0.0.1'], ['169.254.169.254']]
    let asked = 0
    const client = createOutgoingHttp({ allowLoopbackHttp: true, resolve: async () => answers[asked++] ?? [] })
    expect(await client.send(post(`http://localhost:${r.port}/`))).toMatchObject({ status: 200 })
    expect(asked).toBe(1)
    expect(await client.send(post(`http://localhost:${r.port}/`))).toMatchObject({ phase: 'blocked', sent: false })
    expect(r.requests).toHaveLength(1)
  })

  test('the socket connects to the checked address, not to a second look-up of the name', async () => {
    const r = await receiver()
    const client = createOutgoingHttp({ allowLoopbackHttp: true, resolve: async () => ['127.0.0.9'] })
    // The receiver listens only on 127.0.0.1, which a second look-up of localhost would find.
    expect(await client.send(post(`http://localhost:${r.port}/`))).toMatchObject({ phase: 'connect', sent: false })
    expect(r.connections).toBe(0)
  })

  test('a kept-alive connection doesn’t skip the check of a name', async () => {
    const r = await receiver()
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    const client = createOutgoingHttp({ allowLoopbackHttp: true, resolve: async () => answers.shift() ?? [] })
    const request = post(`http://localhost:${r.port}/`, { repeatable: true })
    expect(await client.send(request)).toMatchObject({ status: 200 })
    expect(await client.send(request)).toMatchObject({ phase: 'blocked' })
  })

  test.each([
    [{ 'x-a': 'b\r\nHost: evil' }],
    [{ 'x-a\r\nx-b': 'c' }],
    [{ Host: 'evil.example.com' }],
    [{ 'Transfer-Encoding': 'chunked' }],
  ])('headers %j are refused, and nothing arrives', async (headers) => {
    const r = await receiver()
    const result = await http.send(post(r.url, { headers: headers as Record<string, string> }))
    expect(result).toMatchObject({ kind: 'failure', phase: 'blocked', sent: false })
    expect(r.connections).toBe(0)
  })

  test('a method with a line break is refused', async () => {
    const method = 'GET / HTTP/1.1\r\n' as 'GET'
    expect(await http.send(post('http://127.0.0.1:1/', { method }))).toMatchObject({ phase: 'blocked' })
  })
})

describe('kept-alive connections', () => {
  test('repeatable requests share one, and each resolves its name', async () => {
    const r = await receiver({ tls: 'valid' })
    let asked = 0
    const resolve = async () => [asked++ < 0 ? '' : '127.0.0.1']
    const client = createOutgoingHttp({ allowLoopbackHttp: true, ca: r.ca, resolve })
    for (let i = 0; i < 3; i++)
      expect(await client.send(post(r.url, { repeatable: true }))).toMatchObject({ status: 200 })
    expect(r.requests.map((request) => request.connection)).toEqual([1, 1, 1])
    expect(asked).toBe(3)
  })

  test('a request that must not be repeated gets its own connection', async () => {
    const r = await receiver()
    await http.send(post(r.url, { repeatable: true }))
    await http.send(post(r.url))
    await http.send(post(r.url))
    expect(r.requests.map((request) => request.connection)).toEqual([1, 2, 3])
    expect(r.requests.at(-1)?.headers.connection).toBe('close')
  })

  test('a connection that was idle for 5 s by the clock isn’t used, even if no timer ran in the meantime', async () => {
    const r = await receiver()
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    await http.send(post(r.url, { repeatable: true }))
    vi.setSystemTime(Date.now() + 5_000)
    await http.send(post(r.url, { repeatable: true }))
    expect(r.requests.map((request) => request.connection)).toEqual([1, 2])
  })

  test('a connection that the receiver closed under a repeatable request is replaced', async () => {
    const r = await receiver()
    r.next({ kind: 'answer' }, { kind: 'reset', when: 'before' }, { kind: 'answer', status: 202 })
    await http.send(post(r.url, { repeatable: true }))
    expect(await http.send(post(r.url, { repeatable: true }))).toMatchObject({ kind: 'response', status: 202 })
    expect(r.requests.map((request) => request.connection)).toEqual([1, 1, 2])
  })

  test('a connection that is closed in the middle of an answer isn’t, because the receiver has handled the request', async () => {
    const r = await receiver()
    r.next({ kind: 'answer' }, { kind: 'reset', when: 'body' })
    await http.send(post(r.url, { repeatable: true }))
    expect(await http.send(post(r.url, { repeatable: true }))).toMatchObject({
      phase: 'reset',
      sent: true,
      status: 200,
    })
    expect(r.requests.map((request) => request.connection)).toEqual([1, 1])
  })

  test('a receiver that closes a new connection gets the request once', async () => {
    const r = await receiver()
    r.answer({ kind: 'reset', when: 'before' })
    const result = await http.send(post(r.url, { repeatable: true, connectRetryPausesMs: [1, 1] }))
    expect(result).toMatchObject({ kind: 'failure', phase: 'reset', sent: true })
    expect(r.requests).toHaveLength(1)
  })
})

describe('one hanging receiver', () => {
  test('does not delay the others', async () => {
    const hanging = await receiver()
    hanging.answer({ kind: 'hang' })
    const good = await receiver()
    const stuck = Array.from({ length: 50 }, () =>
      http.send(post(hanging.url, { deadlineMs: 1_500, repeatable: true })),
    )
    await hanging.received(50)
    const served = await Promise.all(
      Array.from({ length: 20 }, () => http.send(post(good.url, { deadlineMs: 1_500, repeatable: true }))),
    )
    expect(served.every((result) => result.kind === 'response' && result.durationMs < 1_000)).toBe(true)
    expect((await Promise.all(stuck)).every((r) => r.kind === 'failure' && r.phase === 'timeout' && r.sent)).toBe(true)
  })

  test('a name without a responding server doesn’t delay other names', async () => {
    const good = await receiver()
    const client = createOutgoingHttp({
      allowLoopbackHttp: true,
      resolve: (name) => (name === 'localhost' ? Promise.resolve(['127.0.0.1']) : new Promise(() => {})),
    })
    const stuck = Array.from({ length: 8 }, (_, i) =>
      client.send(post(`https://n${i}.example.com/`, { deadlineMs: 600 })),
    )
    expect(await client.send(post(`http://localhost:${good.port}/`, { deadlineMs: 500 }))).toMatchObject({
      status: 200,
    })
    expect((await Promise.all(stuck)).every((r) => r.kind === 'failure' && r.phase === 'timeout' && !r.sent)).toBe(true)
  })
})
