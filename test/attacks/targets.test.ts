import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { isPublicAddress } from '#shared/adapters/outgoing-http/addresses.ts'
import { createOutgoingHttp } from '#shared/adapters/outgoing-http/client.ts'
import type { Resolve } from '#shared/adapters/outgoing-http/resolve.ts'
import { fetchFollowingOrigin } from '#shared/agents/tools/follow.ts'
import type { OutgoingRequest } from '#shared/kernel/ports/outgoing-http.ts'
import { contents, difference } from '#testkit/contents.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingStage } from '#testkit/using-stage.ts'
import { HOSTILE_ADDRESSES } from './addresses.ts'
import { fieldsOf, offers, placesDeclared } from './places.ts'
import { batchesOf, bearer } from './support.ts'

/** As deployed: only https on public hosts. */
const STRICT = { allowLoopbackHttp: false }
const platform = usingPlatform()
/** Servers of this machine that nothing may ever connect to. */
const canaries: Server[] = []
let connections = 0
let port = 0

const stage = usingStage(platform)
beforeAll(async () => {
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer((socket) => {
      connections++
      socket.destroy()
    })
    const listening = once(server, 'listening')
    server.listen(port, host)
    // A machine without IPv6 can't listen on that address.
    const stands = await listening.then(
      () => true,
      () => false,
    )
    if (!stands) continue
    port = (server.address() as AddressInfo).port
    canaries.push(server)
  }
})
afterAll(async () => {
  await Promise.all(canaries.map((server) => new Promise((closed) => server.close(closed))))
})
afterEach(() => vi.restoreAllMocks())

/** Manifests are declared by a JSON Schema of their own. */
const OF_MANIFESTS = ['runtime.endpoint', 'surface.url'].flatMap((field) => [
  `published ${field}`,
  `validated ${field}`,
])
const PLACES = [...placesDeclared(), ...OF_MANIFESTS]
const places = offers(() => stage)
const CALLS = Object.keys(places)
/**
 * The first place gets all addresses. Each other place gets a different three fifths, because the check behind them is
 * the same.
 */
const offeredAt = (place: string) => {
  const at = CALLS.indexOf(place)
  return HOSTILE_ADDRESSES.filter((_, i) => at === 0 || (i + at) % 5 < 3)
}
const OFFERED = CALLS.reduce((sum, place) => sum + offeredAt(place).length * fieldsOf(place).length, 0)

const request = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'POST',
  url,
  body: '{}',
  deadlineMs: 5_000,
  maxResponseBytes: 65_536,
  ...more,
})

describe(`${HOSTILE_ADDRESSES.length} hostile addresses at ${PLACES.length} places that take one, ${OFFERED} offers`, () => {
  it('cover every place, and no two addresses are the same', () => {
    for (const place of CALLS) expect(offeredAt(place).length, place).toBeGreaterThan(100)
    expect(new Set(HOSTILE_ADDRESSES.map(([url]) => url)).size).toBe(HOSTILE_ADDRESSES.length)
    const attacked = CALLS.flatMap((call) => fieldsOf(call).map((field) => `${call.split(' ')[0]} ${field}`))
    expect(attacked.sort()).toEqual([...PLACES].sort())
  })

  it.each(CALLS)(
    '%s: refuses each, and keeps nothing',
    async (place) => {
      const offer = await places[place]?.()
      // Preparing an offer needs an agent on this machine; the offer itself is judged as deployed.
      const open = platform.deps.http
      platform.deps.http = createOutgoingHttp(STRICT)
      const before = await contents(platform)
      try {
        for (const some of batchesOf(8, offeredAt(place))) {
          await Promise.all(
            some.map(async ([url, why]) => {
              const answer = await offer?.(url)
              const context = `${why}: ${JSON.stringify(url)} → ${answer?.status} ${answer?.text.slice(0, 200)}`
              if (place.startsWith('validated'))
                expect([answer?.status, answer?.body.valid], context).toEqual([200, false])
              else {
                expect(answer?.status, context).toBe(422)
                const { code, details } = answer?.body.error ?? {}
                expect(['blocked_target', 'validation_error', 'invalid_manifest'], context).toContain(code)
                // The tool takes only one address.
                for (const field of place.startsWith('http_fetch') ? [] : fieldsOf(place))
                  expect(JSON.stringify(details), context).toContain(field.split(/[.[]/)[0])
              }
            }),
          )
        }
        expect(difference(before, await contents(platform))).toEqual({})
      } finally {
        platform.deps.http = open
      }
    },
    120_000,
  )
})

describe('on real sockets, with servers listening on this machine', () => {
  it('hostile addresses are reached when the local switch is on, so the canary works', async () => {
    const before = connections
    await createOutgoingHttp({ allowLoopbackHttp: true }).send(request(`http://127.0.0.1:${port}/`))
    expect(connections).toBe(before + 1)
  })

  it(`none of ${HOSTILE_ADDRESSES.length} addresses is connected to, with the canary’s port or its own`, async () => {
    const before = connections
    const http = createOutgoingHttp(STRICT)
    for (const [url, why] of HOSTILE_ADDRESSES) {
      for (const address of [url, withPort(url)]) {
        // Runs first, so that nothing leaves this machine should an address ever be allowed.
        expect(http.checkAddress(address), `${why}: ${address}`).toBeTruthy()
        const result = await http.send(request(address))
        expect(result, `${why}: ${address}`).toMatchObject({ kind: 'failure', phase: 'blocked', sent: false })
      }
    }
    expect(connections).toBe(before)
  })

  const RESOLVED = HOSTILE_ADDRESSES.flatMap(([url]) => literalOf(url))
  it(`a name that resolves to any of ${RESOLVED.length} of them is not connected to, alone or among public ones`, async () => {
    const before = connections
    for (const literal of RESOLVED) {
      expect(isPublicAddress(literal), literal).toBe(false)
      for (const answers of [[literal], ['8.8.8.8', literal], [literal, '8.8.8.8']]) {
        const http = createOutgoingHttp({ ...STRICT, resolve: async () => answers })
        const result = await http.send(request(`https://hooks.example.com:${port}/`, { connectRetryPausesMs: [1] }))
        expect(result, answers.join()).toMatchObject({ kind: 'failure', phase: 'blocked', sent: false })
      }
    }
    expect(connections).toBe(before)
  })
})

/** Records where sockets would connect to, and blocks all of them. */
const watchDialling = (): string[] => {
  const dialled: string[] = []
  type Lookup = (
    host: string,
    options: object,
    done: (error: Error | null, found: { address: string }[]) => void,
  ) => void
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
    const [given] = args.flat() as [{ host: string; lookup?: Lookup }]
    const end = () => this.destroy(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    if (!given.lookup) dialled.push(`${given.host} without the checked addresses`)
    given.lookup?.(given.host, { all: true }, (_error, found) => dialled.push(...found.map(({ address }) => address)))
    setImmediate(end)
    return this
  })
  return dialled
}

describe('a name that its owner rebinds', () => {
  const rebinding = (...answers: string[][]): { resolve: Resolve; asked: () => number } => {
    let asked = 0
    return { resolve: async () => answers[Math.min(asked++, answers.length - 1)] ?? [], asked: () => asked }
  }

  it('is connected to at the checked address, whatever it resolves to a moment later', async () => {
    const dialled = watchDialling()
    const name = rebinding(['93.184.215.14'], ['127.0.0.1'])
    const http = createOutgoingHttp({ ...STRICT, resolve: name.resolve })
    const first = await http.send(request(`https://rebind.example.com:${port}/`))
    expect(first).toMatchObject({ kind: 'failure', phase: 'connect', sent: false })
    expect([name.asked(), dialled]).toEqual([1, ['93.184.215.14']])
    const second = await http.send(request(`https://rebind.example.com:${port}/`))
    expect(second).toMatchObject({ phase: 'blocked' })
    expect(dialled).toEqual(['93.184.215.14'])
  })

  it('between two attempts of one request: the second is blocked and never connects', async () => {
    const dialled = watchDialling()
    const name = rebinding(['93.184.215.14'], ['169.254.169.254'])
    const http = createOutgoingHttp({ ...STRICT, resolve: name.resolve })
    const result = await http.send(request('https://rebind.example.com/', { connectRetryPausesMs: [1, 1, 1] }))
    expect(result).toMatchObject({ kind: 'failure', phase: 'blocked', sent: false })
    expect([name.asked(), dialled]).toEqual([2, ['93.184.215.14']])
  })

  it('to a public and a private address at once: neither is connected to', async () => {
    const dialled = watchDialling()
    const http = createOutgoingHttp({ ...STRICT, resolve: rebinding(['93.184.215.14', '10.0.0.1']).resolve })
    expect(await http.send(request('https://rebind.example.com/'))).toMatchObject({ phase: 'blocked' })
    expect(dialled).toEqual([])
  })

  it('of a webhook, a run and a fetch: nothing is connected to, and no answer shows the address', async () => {
    const before = connections
    const open = platform.deps.http
    const { app, run, step } = await stage.awaiting()
    const { token } = app
    platform.clock.advance(5_000)
    const hook = { url: `https://rebind.example.com:${port}/in`, events: ['custom.*'] }
    const { body: webhook } = await platform.call('POST', '/api/v1/webhooks', { token, body: hook })
    const closed = createOutgoingHttp({ ...STRICT, resolve: async () => ['127.0.0.1'] })
    platform.deps.http = { ...open, send: closed.send }
    try {
      const tested = await platform.call('POST', `/api/v1/webhooks/${webhook.id}/test`, { token })
      expect(tested.body).toMatchObject({ delivered: false, response_code: null })
      expect(tested.text).not.toContain('127.0.0.1')
      const decision = { token: app.person.token, body: { decision: 'approve' } }
      await platform.call('POST', `/console/runs/${run.id}/steps/${step}/decision`, decision)
      await platform.drain()
      const fetched = await platform.call('GET', `/api/v1/runs/${run.id}`, { token })
      expect(fetched.body.steps[0].output.result).toMatchObject({ error: 'blocked' })
      const started = await platform.call('POST', '/api/v1/runs', { token, body: {} })
      await platform.drain()
      const ended = await platform.call('GET', `/api/v1/runs/${started.body.id}`, { headers: bearer(token) })
      expect(ended.body).toMatchObject({ status: 'failed', error_code: 'agent_unreachable' })
    } finally {
      platform.deps.http = open
    }
    expect(connections).toBe(before)
  })
})

describe('a receiver that redirects to this machine', () => {
  const STATUSES = [301, 302, 303, 307, 308]

  it(`is not followed there from any hop, with any of ${STATUSES.length} statuses`, async () => {
    const before = connections
    const receiver = await startReceiver()
    const http = createOutgoingHttp({ allowLoopbackHttp: true })
    const targets = [
      `http://127.0.0.1:${port}/`,
      `http://[::1]:${port}/`,
      `http://localhost:${port}/`,
      `//127.1:${port}/`,
    ]
    try {
      for (const status of STATUSES) {
        for (const location of targets) {
          for (const hops of [0, 1, 4]) {
            const near = Array.from({ length: hops }, () => ({ kind: 'redirect', status, location: '/next' }) as const)
            receiver.next(...near, { kind: 'redirect', status, location })
            const result = await fetchFollowingOrigin(http, request(`${receiver.url}/start`))
            expect(result, location).toMatchObject({ kind: 'response', status, headers: { location } })
          }
        }
      }
    } finally {
      await receiver.close()
    }
    expect(connections).toBe(before)
  })

  it('is not followed by a webhook’s delivery or a run', async () => {
    const before = connections
    const receiver = await startReceiver()
    receiver.answer({ kind: 'redirect', location: `http://127.0.0.1:${port}/` })
    try {
      const { token } = await stage.integration()
      const body = { url: `${receiver.url}/in`, events: ['*'] }
      const { body: webhook } = await platform.call('POST', '/api/v1/webhooks', { token, body })
      const tested = await platform.call('POST', `/api/v1/webhooks/${webhook.id}/test`, { token })
      expect(tested.body).toMatchObject({ delivered: false, response_code: 302 })
    } finally {
      await receiver.close()
    }
    expect(connections).toBe(before)
  })
})

/** Returns the same IP address at the canary's port; nothing for other hosts. */
function withPort(url: string): string {
  if (literalOf(url).length === 0) return url
  const moved = new URL(url)
  moved.port = String(port)
  return moved.href
}

/** Returns the IP address in a URL's host, if it is one. */
function literalOf(url: string): string[] {
  if (!URL.canParse(url)) return []
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return /^[\d.]+$|:/.test(host) ? [host] : []
}
