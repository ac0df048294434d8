import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { cloudflare, express, hono, type LambdaRequest, lambda, next, node } from '#packages/sdk-ts/adapters.ts'
import { createAgent } from '#packages/sdk-ts/index.ts'
import { isSigned } from '#packages/sdk-ts/verify.ts'
import { newSigningSecret, signStandard, signSvc, standardSecret } from '#shared/kernel/signatures.ts'

const secret = newSigningSecret('agsec_')
const BASE = 'https://platform.example'

let runs = 0
/** Returns a signed request with an id of its own. */
const execute = (input: object = {}, callback: object = {}) => {
  const body = JSON.stringify({
    type: 'run.execute',
    run: { id: `run_${++runs}`, input, trigger: 'api' },
    installation: { settings: {} },
    callback: { base_url: `${BASE}/api/v1`, token: 'first', expires_in: 900, ...callback },
  })
  const now = Math.floor(Date.now() / 1_000)
  return { body, headers: { 'content-type': 'application/json', 'x-svc-signature': signSvc([secret], now, body) } }
}
const requestOf = ({ body, headers }: ReturnType<typeof execute>, more: Record<string, string> = {}) =>
  new Request('https://agent.example/', { method: 'POST', body, headers: { ...headers, ...more } })

const echo = () => createAgent({ secret, watchEvery: 0, onRun: ({ input }) => ({ echo: input }) })
const ANSWER = { status: 'succeeded', output: { echo: { n: 1 } } }

describe('adapters answer a signed request and refuse another', () => {
  const both = async (handle: (request: Request) => Promise<Response>) => {
    const good = await handle(requestOf(execute({ n: 1 })))
    expect([good.status, await good.json()]).toEqual([200, ANSWER])
    expect((await handle(requestOf(execute({ n: 1 }), { 'x-svc-signature': 't=1,v1=00' }))).status).toBe(401)
  }

  it.each([
    ['Node', node],
    ['Express', express],
  ])('%s', async (_name, adapter) => {
    const server = createServer(adapter(echo())).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    try {
      await both(async (request) =>
        fetch(url, { method: 'POST', headers: request.headers, body: await request.text() }),
      )
      const large = await fetch(url, { method: 'POST', body: 'x'.repeat(4 * 1024 * 1024 + 1) })
      expect(large.status).toBe(413)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it('Express with a parsed body says what is wrong', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const request = Object.assign((async function* () {})(), {
      method: 'POST',
      headers: {},
      body: { type: 'run.execute' },
    })
    const statuses: number[] = []
    await express(echo())(request, { writeHead: (status: number) => void statuses.push(status), end() {} })
    expect([statuses, String(error.mock.calls[0]?.[0])]).toEqual([[500], expect.stringContaining('express.json()')])
  })

  it('Hono, with and without an execution context', async () => {
    const handle = hono(echo())
    await both((raw) => handle({ req: { raw }, executionCtx: {} }))
    const context = {
      get executionCtx(): never {
        throw new Error('This context has no ExecutionContext')
      },
    }
    await both((raw) =>
      handle(Object.defineProperties({ req: { raw } }, Object.getOwnPropertyDescriptors(context)) as never),
    )
  })

  it('Next', () => both(next(echo())))

  it('Cloudflare Workers, with one agent for an environment', async () => {
    let created = 0
    const worker = cloudflare((_env: { SIGNING_SECRET: string }) => {
      created++
      return echo()
    })
    const env = { SIGNING_SECRET: secret }
    await both((request) => worker.fetch(request, env, {}))
    expect(created).toBe(1)
  })

  it.each([false, true])('Lambda, with a body in base64: %s', async (isBase64Encoded) => {
    const handler = lambda(echo())
    await both(async (request) => {
      const text = await request.text()
      const { statusCode, headers, body } = await handler({
        headers: Object.fromEntries(request.headers),
        body: isBase64Encoded ? Buffer.from(text).toString('base64') : text,
        isBase64Encoded,
        requestContext: { http: { method: 'POST' } },
      })
      return new Response(body, { status: statusCode, headers })
    })
  })

  it('Lambda hands verified work on and accepts it', async () => {
    const later: LambdaRequest[] = []
    const handler = lambda(echo(), { later: async (event) => later.push(event) })
    const { body, headers } = execute({ n: 1 })
    expect((await handler({ body, headers: { 'x-svc-signature': 't=1,v1=00' } })).statusCode).toBe(401)
    expect((await handler({ body, headers })).statusCode).toBe(202)
    expect(later).toEqual([expect.objectContaining({ accepted: true, body })])
  })
})

describe('signatures', () => {
  it('of both schemes are accepted, with either secret of a rotation', async () => {
    const body = Buffer.from('{"a":"ä"}')
    const now = Math.floor(Date.now() / 1_000)
    const old = newSigningSecret('agsec_')
    const svc = { 'x-svc-signature': signSvc([old], now, body) }
    const standard = { ...signStandard([standardSecret(secret)], 'msg_1', now, body) }
    const verdict = (headers: Record<string, string>) => isSigned([old, secret], headers, body)
    expect(await Promise.all([verdict(svc), verdict(standard), verdict({})])).toEqual([true, true, false])
    expect(await isSigned('agsec_', { ...standard }, body)).toBe(false)
  })
})

it('a run that still works is never started a second time, however many others arrive', async () => {
  const starts = new Map<string, number>()
  let release = () => {}
  const agent = createAgent({
    secret,
    watchEvery: 0,
    answerWithin: 60_000,
    async onRun({ id, input }) {
      starts.set(id, (starts.get(id) ?? 0) + 1)
      if (input.long) await new Promise<void>((resolve) => (release = resolve))
      return { id }
    },
  })
  const long = execute({ long: true })
  const first = agent.fetch(requestOf(long))
  for (let n = 0; n < 1_100; n++) await agent.fetch(requestOf(execute()))
  const second = agent.fetch(requestOf(long))
  await new Promise((resolve) => setImmediate(resolve))
  release()
  const [one, two] = await Promise.all([first, second].map(async (answer) => (await answer).json()))
  expect(two).toEqual(one)
  expect(new Set(starts.values())).toEqual(new Set([1]))
})

describe('calls of a run', () => {
  afterEach(() => vi.unstubAllGlobals())

  /** Answers the run's calls, and records them. */
  const platform = (answer: (path: string, nth: number) => Response | Error) => {
    const calls: { path: string; token: string | null; key: string | null; traceparent: string | null }[] = []
    vi.stubGlobal('fetch', async (request: Request) => {
      const path = new URL(request.url).pathname
      const { headers } = request
      calls.push({
        path,
        token: headers.get('authorization'),
        key: headers.get('idempotency-key'),
        traceparent: headers.get('traceparent'),
      })
      const answered = answer(path, calls.length)
      if (answered instanceof Error) throw answered
      return answered
    })
    return calls
  }
  const created = () => Response.json({ items: [] }, { status: 201 })

  it('carry on the trace, and repeat a lost or refused one with the same key', async () => {
    const calls = platform((_path, nth) =>
      nth === 1 ? new TypeError('fetch failed') : nth === 2 ? new Response('busy', { status: 503 }) : created(),
    )
    const agent = createAgent({ secret, watchEvery: 0, onRun: (run) => run.step('Working').then(() => undefined) })
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const answer = await agent.fetch(requestOf(execute(), { traceparent }))
    expect(await answer.json()).toEqual({ status: 'succeeded' })
    expect(calls.length).toBe(3)
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1)
    expect(new Set(calls.map((call) => call.traceparent))).toEqual(new Set([traceparent]))
  })

  it('renew a token that is about to expire, once for simultaneous calls', async () => {
    const calls = platform((path) =>
      path.endsWith('/callback-token')
        ? Response.json({ token: 'second', expires_in: 900 }, { status: 201 })
        : created(),
    )
    const agent = createAgent({
      secret,
      watchEvery: 0,
      onRun: (run) => Promise.all([run.step('a'), run.step('b')]).then(() => undefined),
    })
    await agent.fetch(requestOf(execute({}, { expires_in: 60 })))
    expect(calls.map(({ path, token }) => [path.split('/').at(-1), token])).toEqual([
      ['callback-token', 'Bearer first'],
      ['steps', 'Bearer second'],
      ['steps', 'Bearer second'],
    ])
  })

  it('abort the run’s signal when it has ended, and send nothing more', async () => {
    const error = { code: 'run_already_finished', message: '', fix: '', docs_url: '', request_id: '', details: {} }
    const calls = platform(() => Response.json({ error }, { status: 409 }))
    let aborted = false
    const agent = createAgent({
      secret,
      watchEvery: 0,
      async onRun(run) {
        await run.step('Too late').catch(() => {})
        aborted = run.signal.aborted
        await run.step('Not sent')
        return {}
      },
    })
    expect((await agent.fetch(requestOf(execute()))).status).toBe(202)
    expect([aborted, calls.length]).toEqual([true, 1])
  })

  it('end at once when the run completes later, and the work is kept alive until then', async () => {
    const calls = platform(() => Response.json({}))
    const kept: Promise<unknown>[] = []
    let release = () => {}
    const agent = createAgent({
      secret,
      watchEvery: 0,
      answerWithin: 1,
      onRun: () => new Promise<{ late: boolean }>((resolve) => (release = () => resolve({ late: true }))),
    })
    const answer = await agent.fetch(requestOf(execute()), { waitUntil: (work) => void kept.push(work) })
    expect([answer.status, kept.length, calls.length]).toEqual([202, 1, 0])
    release()
    await Promise.all(kept)
    expect(calls.map(({ path }) => path.split('/').at(-1))).toEqual(['complete'])
  })
})
