import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest'
import { type Api, createApi, PlatformError, pages, type Tokens, unwrap } from '#packages/sdk-ts/client.ts'
import { verifyStandard, verifySvc } from '#packages/sdk-ts/verify.ts'
import {
  type AgentAnswer,
  type EventOf,
  type PlatformEvent,
  type RunExecute,
  SignatureError,
  verify,
} from '#packages/sdk-ts/webhooks.ts'
import { startServer } from './samples.ts'
import { type Agent, consent, must, newAgent, pkce, send, until } from './support.ts'
import { usingLocal } from './using-local.ts'

const REDIRECT = 'http://127.0.0.1:9/callback'

let baseUrl: string
let endpoint: Awaited<ReturnType<typeof startServer>>
/** The body of every run.execute, with its signature. */
const executes: { header: string; body: Buffer }[] = []
const running = usingLocal()
beforeAll(async () => {
  baseUrl = running.baseUrl
  endpoint = await startServer(async (request, body) => {
    executes.push({ header: String(request.headers['x-svc-signature']), body })
    const { run } = JSON.parse(body.toString()) as RunExecute
    const answer: AgentAnswer = { status: 'succeeded', output: { answer: 42 } }
    return run.input.wait ? { status: 202 } : { status: 200, body: JSON.stringify(answer) }
  })
})
afterAll(async () => {
  await endpoint.close()
})

/** Creates an app that a customer has installed, its tokens, and a client for it. */
const connect = async (): Promise<{ agent: Agent; api: Api; kept: Tokens[]; tokens: Tokens }> => {
  const agent = await newAgent(baseUrl, { endpoint: endpoint.url, redirectUri: REDIRECT })
  const { verifier, challenge } = pkce()
  const authorize = new URL(`${baseUrl}/oauth/authorize`)
  authorize.search = new URLSearchParams({
    response_type: 'code',
    client_id: agent.app.client_id,
    redirect_uri: REDIRECT,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }).toString()
  const back = await consent(baseUrl, authorize, agent.sandboxId)
  const client = { client_id: agent.app.client_id, client_secret: agent.app.client_secret }
  const tokens: Tokens = await must(baseUrl, 'POST', '/oauth/token', {
    body: new URLSearchParams({
      ...client,
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      code_verifier: verifier,
    }),
  })
  const kept: Tokens[] = []
  const api = createApi({
    baseUrl,
    clientId: client.client_id,
    clientSecret: client.client_secret,
    tokens,
    onTokens: (next) => void kept.push(next),
  })
  return { agent, api, kept, tokens }
}

describe('the types of the API', () => {
  it('know each operation’s parameters, answers and errors', () => {
    type Start = Awaited<ReturnType<typeof start>>
    const start = (api: Api) => api.POST('/api/v1/runs', { body: { input: { a: 1 } } })
    type Run = NonNullable<Start['data']>
    expectTypeOf<Run['status']>().toEqualTypeOf<
      'queued' | 'running' | 'awaiting_approval' | 'succeeded' | 'failed' | 'cancelled'
    >()
    expectTypeOf<Run['output']>().toEqualTypeOf<{ [key: string]: unknown } | null>()
    type Code = NonNullable<Start['error']>['error']['code']
    expectTypeOf<'too_many_active_runs'>().toExtend<Code>()
    expectTypeOf<'slug_taken'>().not.toExtend<Code>()
    const list = (api: Api) => api.GET('/api/v1/runs', { params: { query: { limit: 2, status: 'failed' } } })
    expectTypeOf<NonNullable<Awaited<ReturnType<typeof list>>['data']>['next_cursor']>().toEqualTypeOf<string | null>()
    // @ts-expect-error: no such status exists
    const wrong = (api: Api) => api.GET('/api/v1/runs', { params: { query: { status: 'lost' } } })
    expectTypeOf(wrong).not.toBeNever()
  })

  it('distinguish events by their type', () => {
    expectTypeOf<EventOf<'run.succeeded'>['data']['duration_ms']>().toEqualTypeOf<number>()
    expectTypeOf<EventOf<'run.failed'>['data']['error_code']>().toEqualTypeOf<string>()
    const read = (event: PlatformEvent) => {
      if (event.type === 'run.awaiting_approval') expectTypeOf(event.data.step_id).toEqualTypeOf<string>()
      return event.id
    }
    expectTypeOf(read).returns.toBeString()
  })
})

describe('the client', () => {
  it('starts a run and reads it', async () => {
    const { api } = await connect()
    const started = await unwrap(api.POST('/api/v1/runs', { body: { input: { question: 'why?' }, trigger: 'client' } }))
    expect(started).toMatchObject({ status: 'queued', trigger: 'client' })
    const done = await until(async () => {
      const run = await unwrap(api.GET('/api/v1/runs/{id}', { params: { path: { id: started.id } } }))
      return run.finished_at === null ? undefined : run
    })
    expect([done.status, done.output]).toEqual(['succeeded', { answer: 42 }])
  })

  it('lists runs page by page', async () => {
    const { api } = await connect()
    const started: string[] = []
    for (let i = 0; i < 5; i++) {
      started.unshift((await unwrap(api.POST('/api/v1/runs', { body: {} }))).id)
      await until(async () => {
        const run = await unwrap(api.GET('/api/v1/runs/{id}', { params: { path: { id: started[0] ?? '' } } }))
        return run.finished_at ?? undefined
      })
    }
    let asked = 0
    const listed: string[] = []
    const read = (cursor: string | undefined) => {
      asked++
      return unwrap(api.GET('/api/v1/runs', { params: { query: { limit: 2, ...(cursor && { cursor }) } } }))
    }
    for await (const run of pages(read)) listed.push(run.id)
    expect([listed, asked]).toEqual([started, 3])
  })

  it('previews, creates, changes, runs, pauses, resumes and deletes a schedule, and lists what fell due', async () => {
    const { api } = await connect()
    const when = { cron: '0 9 * * MON', time_zone: 'Europe/Amsterdam' }
    const { next_times } = await unwrap(api.POST('/api/v1/schedules/preview', { body: { when } }))
    const made = await unwrap(
      api.POST('/api/v1/schedules', { body: { name: 'Week', start: { input: { question: 'why?' } }, when } }),
    )
    expectTypeOf(made.status).toEqualTypeOf<'active' | 'paused' | 'ended'>()
    expect(made).toMatchObject({ status: 'active', overlap: 'skip', next_times })
    const params = { path: { id: made.id } }
    const changed = await unwrap(api.PATCH('/api/v1/schedules/{id}', { params, body: { overlap: 'queue' } }))
    expect(changed).toMatchObject({ overlap: 'queue', when })
    const run = await unwrap(api.POST('/api/v1/schedules/{id}/run', { params }))
    const { items } = await unwrap(api.GET('/api/v1/schedules/{id}/occurrences', { params }))
    expect(items).toMatchObject([{ status: 'started', run: { id: run.id } }])
    expect((await unwrap(api.POST('/api/v1/schedules/{id}/pause', { params }))).paused_reason).toBe('by_app')
    expect((await unwrap(api.POST('/api/v1/schedules/{id}/resume', { params }))).status).toBe('active')
    expect((await unwrap(api.GET('/api/v1/schedules/{id}', { params }))).last?.run_id).toBe(run.id)
    const read = (cursor: string | undefined) =>
      unwrap(api.GET('/api/v1/schedules', { params: { query: { limit: 1, ...(cursor && { cursor }) } } }))
    const listed = async () => {
      const ids: string[] = []
      for await (const { id } of pages(read)) ids.push(id)
      return ids
    }
    expect(await listed()).toEqual([made.id])
    await unwrap(api.DELETE('/api/v1/schedules/{id}', { params }))
    expect(await listed()).toEqual([])
  })

  it('returns or throws an error with its code', async () => {
    const { api } = await connect()
    for (let i = 0; i < 5; i++) await unwrap(api.POST('/api/v1/runs', { body: { input: { wait: true } } }))
    const { data, error, response } = await api.POST('/api/v1/runs', { body: {} })
    expect([data, response.status, error?.error.code]).toEqual([undefined, 409, 'too_many_active_runs'])

    const thrown = await unwrap(api.GET('/api/v1/tasks')).catch((reason: unknown) => reason)
    expect(thrown).toBeInstanceOf(PlatformError)
    const { code, status, fix, requestId, docsUrl, details } = thrown as PlatformError
    expect({ code, status, details }).toEqual({
      code: 'insufficient_scope',
      status: 403,
      details: { required_scope: 'tasks:read', granted_scopes: expect.any(Array) },
    })
    expect(fix).toMatch(/\S/)
    expect(docsUrl).toBe(`${baseUrl}/docs#insufficient_scope`)
    expect(requestId).toMatch(/^req_/)
  })
})

describe('tokens', () => {
  let real: typeof fetch
  /** Requests sent, as method, path and Idempotency-Key. */
  const sent: string[] = []
  let loseAnswersTo = ''
  beforeEach(() => {
    real = globalThis.fetch
    sent.length = 0
    vi.stubGlobal('fetch', async (input: Request | string, init?: RequestInit) => {
      const request = new Request(input, init)
      const path = new URL(request.url).pathname
      sent.push(`${request.method} ${path} ${request.headers.get('idempotency-key') ?? '-'}`)
      const response = await real(request)
      if (path !== loseAnswersTo) return response
      loseAnswersTo = ''
      await response.body?.cancel()
      throw new TypeError('fetch failed')
    })
  })
  afterEach(() => {
    loseAnswersTo = ''
    vi.unstubAllGlobals()
  })

  /** Creates a client whose access token is invalid and whose refresh token is valid. */
  const stale = async () => {
    const { agent, tokens } = await connect()
    const kept: Tokens[] = []
    const api = createApi({
      baseUrl,
      clientId: agent.app.client_id,
      clientSecret: agent.app.client_secret,
      tokens: { ...tokens, access_token: `${tokens.access_token.slice(0, -4)}AAAA` },
      onTokens: (next) => void kept.push(next),
    })
    sent.length = 0
    return { api, kept, tokens }
  }

  it('are refreshed when the access token is invalid, and the request is repeated with the same key', async () => {
    const { api, kept, tokens } = await stale()
    const run = await unwrap(api.POST('/api/v1/runs', { body: { input: { n: 1 } } }))
    expect(run.input).toEqual({ n: 1 })
    expect(kept).toEqual([{ access_token: expect.stringMatching(/^eyJ/), refresh_token: expect.any(String) }])
    expect(kept[0]?.refresh_token).not.toBe(tokens.refresh_token)
    expect(sent.map((line) => line.split(' ')[1])).toEqual(['/api/v1/runs', '/oauth/token', '/api/v1/runs'])
    expect(sent[2]).toBe(sent[0])
    expect(sent[0]).toMatch(/ [0-9a-f-]{36}$/)
    await unwrap(api.GET('/api/v1/me'))
    expect(kept.length).toBe(1)
  })

  it('are refreshed once for many simultaneous requests', async () => {
    const { api, kept } = await stale()
    const answers = await Promise.all(Array.from({ length: 5 }, () => api.GET('/api/v1/me')))
    expect(answers.map(({ response }) => response.status)).toEqual([200, 200, 200, 200, 200])
    expect(kept.length).toBe(1)
  })

  it('survive a lost answer to a refresh', async () => {
    const { api, kept } = await stale()
    loseAnswersTo = '/oauth/token'
    await unwrap(api.GET('/api/v1/me'))
    const refreshes = sent.filter((line) => line.includes('/oauth/token'))
    expect(refreshes.length).toBe(2)
    expect(refreshes[1]).toBe(refreshes[0])
    expect(kept.length).toBe(1)
    await unwrap(api.GET('/api/v1/me'))
  })

  it('are renewed to the same pair after storing them failed', async () => {
    const { agent, tokens } = await connect()
    const kept: Tokens[] = []
    let isFull = true
    const api = createApi({
      baseUrl,
      clientId: agent.app.client_id,
      clientSecret: agent.app.client_secret,
      tokens: { ...tokens, access_token: 'outdated' },
      onTokens(next) {
        kept.push(next)
        if (isFull) throw new Error('The disk is full.')
      },
    })
    await expect(unwrap(api.GET('/api/v1/me'))).rejects.toThrow('The disk is full.')
    isFull = false
    await unwrap(api.GET('/api/v1/me'))
    expect(kept).toHaveLength(2)
    expect(kept[1]).toEqual(kept[0])
  })

  it('that can’t be refreshed cause an error with its code', async () => {
    const { agent } = await connect()
    const api = createApi({
      baseUrl,
      clientId: agent.app.client_id,
      clientSecret: agent.app.client_secret,
      tokens: { access_token: 'x', refresh_token: `rft_${randomBytes(32).toString('base64url')}` },
      onTokens: () => {},
    })
    await expect(unwrap(api.GET('/api/v1/me'))).rejects.toMatchObject({ status: 400, code: 'invalid_grant' })
  })
})

describe('messages from the platform', () => {
  it('include typed events of deliveries whose signatures verify', async () => {
    const deliveries: { headers: Record<string, string>; body: Buffer }[] = []
    const receiver = await startServer(async (request, body) => {
      deliveries.push({ headers: request.headers as Record<string, string>, body })
      return { status: 204 }
    })
    try {
      const { api } = await connect()
      const { id, secret } = await unwrap(
        api.POST('/api/v1/webhooks', { body: { url: receiver.url, events: ['run.succeeded'] } }),
      )
      const run = await unwrap(api.POST('/api/v1/runs', { body: {} }))
      const { headers, body } = await until(() => deliveries[0])
      const event = await verify(secret, { 'x-svc-signature': headers['x-svc-signature'] }, body)
      expect(event).toMatchObject({ type: 'run.succeeded', data: { run_id: run.id } })
      if (event.type === 'run.succeeded') expect(event.data.duration_ms).toBeGreaterThanOrEqual(0)
      expect(await verifyStandard(secret, headers, body)).toBe(true)

      const forged = Buffer.from(body.toString().replace(run.id, 'run_other'))
      await expect(verify(secret, headers, forged)).rejects.toBeInstanceOf(SignatureError)
      await expect(verify(secret, {}, body)).rejects.toBeInstanceOf(SignatureError)
      expect(await verifyStandard(secret, headers, forged)).toBe(false)
      expect(await send(baseUrl, 'GET', '/api/v1/webhooks')).toMatchObject({ status: 401 })
      const removed = await api.DELETE('/api/v1/webhooks/{id}', { params: { path: { id } } })
      expect(removed.response.status).toBe(204)
    } finally {
      await receiver.close()
    }
  })

  it('include a typed run.execute whose signature verifies', async () => {
    const { agent, api } = await connect()
    const run = await unwrap(api.POST('/api/v1/runs', { body: { input: { question: 'why?' }, trigger: 'typed' } }))
    const mine = ({ body }: { body: Buffer }) => (JSON.parse(body.toString()) as RunExecute).run.id === run.id
    const { header, body } = await until(() => executes.find(mine))
    expect(await verifySvc(agent.app.signing_secret, header, body)).toBe(true)
    const execute: RunExecute = JSON.parse(body.toString())
    expectTypeOf(execute.callback.token).toBeString()
    expect([execute.run.input, execute.run.trigger, execute.callback.expires_in]).toEqual([
      { question: 'why?' },
      'typed',
      900,
    ])
  })
})
