import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createOutgoingHttp } from '#shared/adapters/outgoing-http/client.ts'
import { fetchFollowingOrigin } from '#shared/agents/tools/follow.ts'
import type { OutgoingRequest } from '#shared/kernel/ports/outgoing-http.ts'
import { type Receiver, startReceiver } from '#testkit/receiver.ts'

const http = createOutgoingHttp({ allowLoopbackHttp: true })

let r: Receiver

let other: Receiver

beforeEach(async () => {
  ;[r, other] = await Promise.all([startReceiver(), startReceiver()])
})

afterEach(() => Promise.all([r.close(), other.close()]))

const get = (more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'GET',
  url: `${r.url}/start`,
  deadlineMs: 3_000,
  maxResponseBytes: 65_536,
  ...more,
})

describe('fetchFollowingOrigin', () => {
  test('follows within the origin and reports the final address', async () => {
    r.next(
      { kind: 'redirect', location: '/a' },
      { kind: 'redirect', location: `${r.url}/b?x=1` },
      { kind: 'answer', body: 'ok' },
    )
    expect(await fetchFollowingOrigin(http, get())).toMatchObject({ status: 200, url: `${r.url}/b?x=1` })
    expect(r.requests.map((request) => request.path)).toEqual(['/start', '/a', '/b?x=1'])
  })

  test('resolves a relative location against the address it came from', async () => {
    r.next({ kind: 'redirect', location: 'deep/one' }, { kind: 'redirect', location: '../two' }, { kind: 'answer' })
    await fetchFollowingOrigin(http, get({ url: `${r.url}/x/start` }))
    expect(r.requests.map((request) => request.path)).toEqual(['/x/start', '/x/deep/one', '/x/two'])
  })

  test('returns a redirect to another origin as the result', async () => {
    r.answer({ kind: 'redirect', location: `${other.url}/x` })
    const result = await fetchFollowingOrigin(http, get())
    expect(result).toMatchObject({ status: 302, headers: { location: `${other.url}/x` }, url: `${r.url}/start` })
    expect(other.requests).toEqual([])
  })

  test.each([
    'http://169.254.169.254/latest/',
    'https://127.0.0.1/',
    '//example.com/',
    'file:///etc/passwd',
    'http://[',
  ])('returns a redirect to %s as the result', async (location) => {
    r.answer({ kind: 'redirect', location })
    expect(await fetchFollowingOrigin(http, get())).toMatchObject({ status: 302, headers: { location } })
    expect(r.requests).toHaveLength(1)
  })

  test('refuses a redirect with credentials by the check of its hop', async () => {
    r.answer({ kind: 'redirect', location: `http://user:pass@127.0.0.1:${r.port}/` })
    expect(await fetchFollowingOrigin(http, get())).toMatchObject({ kind: 'failure', phase: 'blocked' })
    expect(r.requests).toHaveLength(1)
  })

  test('a name that moves to a private address between hops is refused', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    const client = createOutgoingHttp({ allowLoopbackHttp: true, resolve: async () => answers.shift() ?? [] })
    r.answer({ kind: 'redirect', location: '/next' })
    const result = await fetchFollowingOrigin(client, get({ url: `http://localhost:${r.port}/` }))
    expect(result).toMatchObject({ kind: 'failure', phase: 'blocked' })
  })

  test('follows five redirects and returns the sixth as the result', async () => {
    r.answer({ kind: 'redirect', location: '/again' })
    expect(await fetchFollowingOrigin(http, get())).toMatchObject({ status: 302 })
    expect(r.requests).toHaveLength(6)
  })

  test('applies one deadline to all hops', async () => {
    r.answer(async () => {
      await new Promise((later) => setTimeout(later, 150))
      return { kind: 'redirect', location: '/again' }
    })
    const result = await fetchFollowingOrigin(http, get({ deadlineMs: 400 }))
    expect(result).toMatchObject({ kind: 'failure', phase: 'timeout' })
  })

  test.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [302, 'PUT', 'PUT'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
  ] as const)('after %d a %s continues as %s', async (status, method, then) => {
    r.next({ kind: 'redirect', status, location: '/next' }, { kind: 'answer' })
    const body = method === 'HEAD' ? {} : { body: 'data', headers: { 'Content-Type': 'text/plain', 'X-Key': '1' } }
    await fetchFollowingOrigin(http, get({ method, ...body }))
    const next = r.requests[1]
    expect(next?.method).toBe(then)
    expect(next?.body.toString()).toBe(then === method && method !== 'HEAD' ? 'data' : '')
    if (method !== 'HEAD') expect(next?.headers['x-key']).toBe('1')
    if (then === 'GET') expect(next?.headers['content-type']).toBeUndefined()
  })

  test.each([304, 300, 200])('doesn’t follow %d, which is not a redirect', async (status) => {
    r.answer({ kind: 'answer', status, headers: { location: '/next' } })
    expect(await fetchFollowingOrigin(http, get())).toMatchObject({ status })
    expect(r.requests).toHaveLength(1)
  })
})
