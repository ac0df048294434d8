import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createOutgoingHttp } from '#shared/adapters/outgoing-http/client.ts'
import { statusHint } from '#shared/adapters/outgoing-http/hints.ts'
import type { OutgoingRequest, OutgoingResult } from '#shared/kernel/ports/outgoing-http.ts'
import { type CertificateKind, certificate, testAuthority } from '#testkit/certificates.ts'
import { startReceiver } from '#testkit/receiver.ts'

const http = createOutgoingHttp({ allowLoopbackHttp: true })

const post = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'POST',
  url,
  body: 'secret body',
  deadlineMs: 5_000,
  maxResponseBytes: 65_536,
  ...more,
})

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Starts a TCP server with the given behaviour for each connection. @returns its port */
const tcp = async (onConnection: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

const receiver = async (...options: Parameters<typeof startReceiver>) => {
  const started = await startReceiver(...options)
  closers.push(() => started.close())
  return started
}

const unusedPort = async (): Promise<number> => {
  const port = await tcp(() => {})
  for (const close of closers.splice(-1)) await close()
  return port
}

describe('a request that can’t have been seen is reported as unsent', () => {
  test('refused', async () => {
    const result = await http.send(post(`http://127.0.0.1:${await unusedPort()}/`))
    expect(result).toMatchObject({ kind: 'failure', phase: 'connect', sent: false, code: 'ECONNREFUSED' })
    expect(result.hint).toMatch(/No server is listening/)
  })

  test('refused on every address of a name', async () => {
    const result = await http.send(post(`http://localhost:${await unusedPort()}/`))
    expect(result).toMatchObject({ kind: 'failure', phase: 'connect', sent: false, code: 'ECONNREFUSED' })
  })

  test('unresolvable', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' }))
    const client = createOutgoingHttp({ allowLoopbackHttp: false, resolve })
    const result = await client.send(post('https://nowhere.example.com/'))
    expect(result).toMatchObject({ kind: 'failure', phase: 'dns', sent: false, code: 'ENOTFOUND' })
    expect(result.hint).toMatch(/does not exist in DNS/)
  })

  test('a name without addresses', async () => {
    const client = createOutgoingHttp({ allowLoopbackHttp: false, resolve: async () => [] })
    expect(await client.send(post('https://empty.example.com/'))).toMatchObject({ phase: 'dns', sent: false })
  })

  const BAD_CERTIFICATES: [CertificateKind, string, RegExp][] = [
    ['expired', 'CERT_HAS_EXPIRED', /expired/],
    ['not-yet-valid', 'CERT_NOT_YET_VALID', /not valid yet/],
    ['self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT', /self-signed/],
    ['wrong-host', 'ERR_TLS_CERT_ALTNAME_INVALID', /another host name/],
    ['unknown-authority', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', /chain/],
  ]
  test.each(BAD_CERTIFICATES)('a certificate that is %s', async (kind, code, hint) => {
    const r = await receiver({ tls: kind })
    const client = createOutgoingHttp({ allowLoopbackHttp: true, ca: r.ca })
    // Repeated often, because the failure would be a race: the request leaving before the certificate is checked.
    for (let i = 0; i < 10; i++) {
      const result = await client.send(post(r.url, { repeatable: i % 2 === 0, deadlineMs: 60_000 }))
      expect(result).toMatchObject({ kind: 'failure', phase: 'tls', sent: false, code })
      expect(result.hint).toMatch(hint)
    }
    expect(r.requests).toEqual([])
  })

  test('a valid certificate passes with the authority trusted, and fails without', async () => {
    const r = await receiver({ tls: 'valid' })
    expect(await http.send(post(r.url))).toMatchObject({ phase: 'tls', sent: false })
    expect(r.requests).toEqual([])
    const trusting = createOutgoingHttp({ allowLoopbackHttp: true, ca: r.ca })
    expect(await trusting.send(post(r.url))).toMatchObject({ status: 200 })
    expect(await trusting.send(post(`https://127.0.0.1:${r.port}/`))).toMatchObject({ status: 200 })
  })

  test('NODE_TLS_REJECT_UNAUTHORIZED doesn’t switch the check off', async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    closers.push(() => {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
    })
    const r = await receiver({ tls: 'self-signed' })
    expect(await http.send(post(r.url))).toMatchObject({ phase: 'tls', sent: false })
  })

  test('a port that speaks plain HTTP', async () => {
    const r = await receiver()
    const result = await http.send(post(`https://127.0.0.1:${r.port}/`))
    expect(result).toMatchObject({ kind: 'failure', phase: 'tls', sent: false })
    expect(r.requests).toEqual([])
  })

  test('a connection closed during the handshake', async () => {
    const port = await tcp((socket) => socket.once('data', () => socket.destroy()))
    expect(await http.send(post(`https://127.0.0.1:${port}/`))).toMatchObject({ phase: 'tls', sent: false })
  })
})

describe('the deadline', () => {
  const within = (result: OutgoingResult) => {
    expect(result.durationMs).toBeGreaterThanOrEqual(280)
    expect(result.durationMs).toBeLessThan(10_000)
  }
  const deadlineMs = 300

  test('covers name look-up', async () => {
    let stopped = false
    const client = createOutgoingHttp({
      allowLoopbackHttp: false,
      resolve: (_, signal) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            stopped = true
          })
        }),
    })
    const result = await client.send(post('https://slow.example.com/', { deadlineMs }))
    expect(result).toMatchObject({ kind: 'failure', phase: 'timeout', sent: false, message: /name/ })
    within(result)
    expect(stopped).toBe(true)
  })

  test('covers the handshake', async () => {
    const port = await tcp(() => {})
    const result = await http.send(post(`https://127.0.0.1:${port}/`, { deadlineMs }))
    expect(result).toMatchObject({ kind: 'failure', phase: 'timeout', sent: false, message: /handshake/ })
    within(result)
  })

  test('covers waiting for headers', async () => {
    const r = await receiver()
    r.answer({ kind: 'hang' })
    const result = await http.send(post(r.url, { deadlineMs, connectRetryPausesMs: [1, 1] }))
    expect(result).toMatchObject({ kind: 'failure', phase: 'timeout', sent: true, message: /no answer/ })
    within(result)
    expect(r.requests).toHaveLength(1)
  })

  test('covers a slowly dripping body', async () => {
    const r = await receiver()
    r.answer({ kind: 'drip', everyMs: 20 })
    const result = await http.send(post(r.url, { deadlineMs }))
    expect(result).toMatchObject({
      kind: 'failure',
      phase: 'timeout',
      sent: true,
      status: 200,
      message: /did not finish/,
    })
    within(result)
  })

  test('covers slowly dripping headers', async () => {
    const port = await tcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write('x: y\r\n'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    const result = await http.send(post(`http://127.0.0.1:${port}/`, { deadlineMs }))
    expect(result).toMatchObject({ kind: 'failure', phase: 'timeout', sent: true })
    within(result)
  })

  test('covers name look-up and answer together', async () => {
    const r = await receiver()
    r.answer({ kind: 'answer', delayMs: 220 })
    const resolve = () => new Promise<string[]>((found) => setTimeout(() => found(['127.0.0.1']), 180))
    const client = createOutgoingHttp({ allowLoopbackHttp: true, resolve })
    const result = await client.send(post(`http://localhost:${r.port}/`, { deadlineMs }))
    expect(result).toMatchObject({ kind: 'failure', phase: 'timeout', sent: true })
    within(result)
  })
})

describe('a connection that was never established is retried within the deadline', () => {
  test('as often as configured', async () => {
    let asked = 0
    const resolve = () => {
      asked += 1
      return Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }))
    }
    const client = createOutgoingHttp({ allowLoopbackHttp: false, resolve })
    const result = await client.send(post('https://nowhere.example.com/', { connectRetryPausesMs: [10, 10] }))
    expect(result).toMatchObject({ phase: 'dns', sent: false })
    expect(asked).toBe(3)
  })

  test('and succeeds when the receiver is back', async () => {
    const r = await receiver()
    const answers = [[], ['127.0.0.1']]
    const client = createOutgoingHttp({ allowLoopbackHttp: true, resolve: async () => answers.shift() ?? [] })
    const result = await client.send(post(`http://localhost:${r.port}/`, { connectRetryPausesMs: [10, 10] }))
    expect(result).toMatchObject({ kind: 'response', status: 200 })
    expect(r.requests).toHaveLength(1)
  })

  test('three handshakes that hang share the deadline', async () => {
    let connections = 0
    const port = await tcp(() => {
      connections += 1
    })
    const request = post(`https://127.0.0.1:${port}/`, { deadlineMs: 2_400, connectRetryPausesMs: [10, 10] })
    const result = await http.send(request)
    expect(result).toMatchObject({ phase: 'timeout', sent: false })
    expect(connections).toBe(3)
    expect(result.durationMs).toBeLessThan(7_000)
  })

  test('an address isn’t given up for the next one while a share of the connect time is left', async () => {
    const r = await receiver()
    // The receiver's answer waits for longer than the 250 ms that Node gives each address. Nothing listens at the second address.
    const wait = () => {
      const began = performance.now()
      while (performance.now() - began < 400);
    }
    const delay = (message: unknown) => {
      const { socket } = message as { socket: Socket }
      socket.once('connectionAttempt', () => process.nextTick(wait))
    }
    subscribe('net.client.socket', delay)
    closers.push(() => unsubscribe('net.client.socket', delay))
    const result = await http.send(post(`http://localhost:${r.port}/`))
    expect(result).toMatchObject({ kind: 'response', status: 200 })
  })

  test('a pause that would exceed the deadline is skipped', async () => {
    const url = `http://127.0.0.1:${await unusedPort()}/`
    const result = await http.send(post(url, { deadlineMs: 60_000, connectRetryPausesMs: [90_000] }))
    expect(result).toMatchObject({ phase: 'connect', sent: false })
    expect(result.durationMs).toBeLessThan(30_000)
  })
})

describe('a request that the other side may have seen counts as sent', () => {
  test('closed before an answer', async () => {
    const r = await receiver()
    r.answer({ kind: 'reset', when: 'before' })
    const result = await http.send(post(r.url))
    expect(result).toMatchObject({ kind: 'failure', phase: 'reset', sent: true })
    expect(result).not.toHaveProperty('status')
  })

  test('closed as soon as connected', async () => {
    const port = await tcp((socket) => socket.destroy())
    expect(await http.send(post(`http://127.0.0.1:${port}/`))).toMatchObject({ phase: 'reset', sent: true })
  })

  test('closed in the middle of the body', async () => {
    const r = await receiver()
    r.answer({ kind: 'reset', when: 'body' })
    expect(await http.send(post(r.url))).toMatchObject({ kind: 'failure', phase: 'reset', sent: true, status: 200 })
  })

  test('closed in the middle of a compressed body', async () => {
    const r = await receiver()
    r.answer({
      kind: 'raw',
      text: 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1000\r\n\r\n\x1f\x8b',
    })
    expect(await http.send(post(r.url))).toMatchObject({ kind: 'failure', phase: 'reset', sent: true, status: 200 })
  })

  test('an answer that is not HTTP', async () => {
    const r = await receiver()
    r.answer({ kind: 'raw', text: 'SSH-2.0-OpenSSH_9.6\r\n' })
    const result = await http.send(post(r.url))
    expect(result).toMatchObject({ kind: 'failure', phase: 'decode', sent: true })
    expect(result.hint).toMatch(/not HTTP/)
  })

  test('an answer that switches protocols', async () => {
    const r = await receiver()
    r.answer({ kind: 'raw', text: 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n' })
    expect(await http.send(post(r.url))).toMatchObject({ kind: 'failure', phase: 'decode', sent: true })
  })

  test('headers without end', async () => {
    const r = await receiver()
    r.answer({ kind: 'raw', text: `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n` })
    expect(await http.send(post(r.url))).toMatchObject({ kind: 'failure', phase: 'too_large', sent: true })
  })
})

describe('hints', () => {
  test.each([200, 201, 202, 204, 299])('%d needs none', (status) => expect(statusHint(status)).toBeUndefined())

  test.each([
    [301, /Redirects are not followed/],
    [308, /Redirects are not followed/],
    [401, /signature/],
    [403, /signature/],
    [404, /path/],
    [410, /Retries continue as scheduled/],
    [429, /Retry-After does not change the schedule/],
    [500, /logs/],
    [503, /does not change the schedule/],
    [418, /logs/],
  ])('%d says what to do', (status, hint) => expect(statusHint(status)).toMatch(hint))

  test('a failure names no address that a name resolved to', async () => {
    const result = await http.send(post(`http://localhost:${await unusedPort()}/`))
    expect(JSON.stringify(result)).not.toMatch(/127\.0\.0\.1|::1/)
  })
})

test('the test authority’s signatures are correct', async () => {
  const [valid, authority] = await Promise.all([certificate('valid'), testAuthority()])
  expect(valid.cert).toMatch(/BEGIN CERTIFICATE/)
  expect(authority.cert).not.toBe(valid.cert)
})
