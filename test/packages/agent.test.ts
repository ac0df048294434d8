import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { cloudflare, express, hono, type LambdaRequest, lambda, next, node } from '#packages/sdk-ts/adapters.ts'
import { createAgent, createApi } from '#packages/sdk-ts/index.ts'
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

  it.each([
    ['format 1.0', { httpMethod: 'POST', requestContext: { httpMethod: 'POST' } }],
    ['a load balancer with several values', { httpMethod: 'POST', headers: undefined, several: true }],
  ])(
    'Lambda, from %s, with names of headers as they were sent',
    async (_name, { several, ...event }: object & { several?: boolean }) => {
      const handler = lambda(echo())
      await both(async (request) => {
        const names = [...request.headers].map(([name, value]) => [name.replace('svc', 'SVC'), value] as const)
        const { statusCode, headers, body } = await handler({
          ...(several
            ? { multiValueHeaders: Object.fromEntries(names.map(([name, value]) => [name, [value]])) }
            : { headers: Object.fromEntries(names) }),
          body: await request.text(),
          isBase64Encoded: false,
          ...event,
        })
        return new Response(body, { status: statusCode, headers })
      })
      for (const later of [undefined, async () => {}]) {
        const head = await lambda(echo(), { later })({
          ...event,
          httpMethod: 'GET',
          requestContext: undefined,
          body: null,
        })
        expect([head.statusCode, head.headers.allow]).toEqual([405, 'POST'])
      }
    },
  )

  it('Node with a body that was read before takes what was kept of it, or says what is wrong', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const statuses: number[] = []
    const response = { writeHead: (status: number) => void statuses.push(status), end() {} }
    const { body, headers } = execute({ n: 1 })
    const read = Object.assign((async function* () {})(), { method: 'POST', headers, readableDidRead: true })
    await node(echo())(Object.assign(read, { rawBody: Buffer.from(body), body: JSON.parse(body) }), response)
    await node(echo())(Object.assign(read, { rawBody: body }), response)
    expect(statuses).toEqual([200, 200])
    await node(echo())(Object.assign(read, { rawBody: undefined, body: undefined }), response)
    expect([statuses.at(-1), String(error.mock.calls[0]?.[0])]).toEqual([
      500,
      expect.stringContaining('was read before'),
    ])
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

  it('are found in headers whose names are in any case', async () => {
    const now = Math.floor(Date.now() / 1_000)
    const headers = { 'X-Svc-Signature': [signSvc([secret], now, '{}')] }
    expect(await isSigned(secret, headers, Buffer.from('{}'))).toBe(true)
    const standard = { ...signStandard([standardSecret(secret)], 'msg_1', now, '{}') }
    const shouted = Object.fromEntries(Object.entries(standard).map(([name, value]) => [name.toUpperCase(), value]))
    expect(await isSigned(secret, shouted, Buffer.from('{}'))).toBe(true)
  })
})

describe('the secret', () => {
  it('may be missing while the agent is only imported, and is read at the first request', async () => {
    let later = ''
    const agent = createAgent({ secret: () => later, watchEvery: 0, onRun: () => ({ ok: true }) })
    await expect(agent.fetch(requestOf(execute()))).rejects.toThrow('no signing secret')
    await expect(createAgent({ secret: '', onRun: () => ({}) }).fetch(requestOf(execute()))).rejects.toThrow('agsec_')
    later = secret
    expect((await agent.fetch(requestOf(execute()))).status).toBe(200)
  })
})

describe('an answer that can’t be sent', () => {
  afterEach(() => vi.unstubAllGlobals())
  const itself: Record<string, unknown> = {}
  itself.inner = itself

  it.each([
    ['a BigInt', { total: 10n }, 'output.total is a BigInt'],
    ['NaN', { rows: [{ n: Number.NaN }] }, 'output.rows[0].n is NaN'],
    ['a cycle', itself, 'output.inner contains itself'],
    [
      'what throws',
      {
        at: new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('no keys')
            },
          },
        ),
      },
      'no keys',
    ],
    ['more than 1 MiB', { text: 'ä'.repeat(600_000) }, 'more than 1 MiB'],
  ])('(%s) fails the run, at once and late, and is reported', async (_what, output, message) => {
    const sent: unknown[] = []
    vi.stubGlobal('fetch', async (request: Request) => {
      sent.push(await request.json())
      return Response.json({})
    })
    const reported: unknown[] = []
    const given = { secret, watchEvery: 0, onError: (error: unknown) => void reported.push(error) }
    const expected = {
      status: 'failed',
      error_code: 'agent_invalid_response',
      error_message: expect.stringContaining(message),
    }
    const atOnce = await createAgent({ ...given, onRun: () => output }).fetch(requestOf(execute()))
    expect(await atOnce.json()).toEqual(expected)
    const work: Promise<unknown>[] = []
    const later = createAgent({
      ...given,
      answerWithin: 1,
      onRun: () => new Promise<typeof output>((done) => setTimeout(done, 20, output)),
    })
    expect((await later.fetch(requestOf(execute()), { waitUntil: (one) => void work.push(one) })).status).toBe(202)
    await Promise.all(work)
    expect(sent).toEqual([expected])
    expect(reported.map(String)).toEqual([expect.stringContaining(message), expect.stringContaining(message)])
  })

  it('but is refused by the platform fails the run with the reason', async () => {
    const sent: unknown[] = []
    const error = {
      code: 'validation_error',
      message: 'output is wrong.',
      fix: '',
      docs_url: '',
      request_id: '',
      details: {},
    }
    vi.stubGlobal('fetch', async (request: Request) => {
      sent.push(await request.json())
      return sent.length === 1 ? Response.json({ error }, { status: 422 }) : Response.json({})
    })
    const work: Promise<unknown>[] = []
    const agent = createAgent({
      secret,
      watchEvery: 0,
      answerWithin: 1,
      onError() {},
      onRun: () => new Promise<object>((done) => setTimeout(done, 20, {})) as Promise<Record<string, unknown>>,
    })
    await agent.fetch(requestOf(execute()), { waitUntil: (one) => void work.push(one) })
    await Promise.all(work)
    expect(sent.at(-1)).toMatchObject({ status: 'failed', error_message: expect.stringContaining('output is wrong.') })
    expect(sent).toHaveLength(2)
  })
})

describe('the client', () => {
  const servers: ReturnType<typeof createServer>[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })
  const serving = async (answer: Parameters<typeof createServer>[1]) => {
    const server = createServer(answer).listen(0, '127.0.0.1')
    servers.push(server)
    await new Promise((resolve) => server.once('listening', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('gives up a request whose answer doesn’t come in time, once', async () => {
    let requests = 0
    const baseUrl = await serving(() => void requests++)
    const api = createApi({ baseUrl, token: 'token', timeout: 100 })
    await expect(api.GET('/api/v1/me')).rejects.toThrow('No response within 100 ms')
    expect(requests).toBe(1)
  })

  it('takes an address with a slash at its end, for refreshes as well', async () => {
    const paths: (string | undefined)[] = []
    const baseUrl = await serving((request, response) => {
      paths.push(request.url)
      const isRefresh = request.url === '/oauth/token'
      response.writeHead(isRefresh || paths.length > 2 ? 200 : 401, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isRefresh ? { access_token: 'b', refresh_token: 'c' } : {}))
    })
    const tokens = { access_token: 'a', refresh_token: 'r' }
    const api = createApi({ baseUrl: `${baseUrl}/`, clientId: 'id', clientSecret: 'secret', tokens, onTokens() {} })
    await api.GET('/api/v1/me')
    expect(paths).toEqual(['/api/v1/me', '/oauth/token', '/api/v1/me'])
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
