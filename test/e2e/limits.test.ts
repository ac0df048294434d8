import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { usingReceiver } from '#testkit/using.ts'
import { type Answer, consent, must, newAgent, pkce, sandboxToken, send } from './support.ts'
import { usingLocal } from './using-local.ts'

const running = usingLocal()
const receiver = usingReceiver({ kind: 'answer', status: 202 })

const call = (method: string, to: string, sent?: Parameters<typeof send>[3]) => send(running.baseUrl, method, to, sent)
const agentAndToken = async () => {
  const agent = await newAgent(running.baseUrl, { endpoint: receiver.url })
  return { agent, token: await sandboxToken(running.baseUrl, agent) }
}
const together = (count: number, one: (i: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: count }, (_, i) => one(i)))
const statuses = (answers: Answer[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('60 simultaneous requests with one token', () => {
  it('allow at least 20 and at most 21 + 10 per second; the others get Retry-After', async () => {
    const { token } = await agentAndToken()
    // Warms the function up, so that its start doesn't count as time that refills the bucket.
    await call('GET', '/api/v1/me')
    const began = performance.now()
    const answers = await together(60, () => call('GET', '/api/v1/me', { token }))
    const elapsed = (performance.now() - began) / 1_000
    const passed = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 429)
    expect(passed.length + refused.length, JSON.stringify(statuses(answers))).toBe(60)
    expect(passed.length).toBeGreaterThanOrEqual(20)
    expect(passed.length).toBeLessThanOrEqual(21 + 10 * elapsed)
    for (const { headers, body } of refused) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(body.error).toMatchObject({ code: 'rate_limited', details: { limit_scope: 'installation' } })
    }
    for (const { headers } of answers) {
      expect(headers.get('x-ratelimit-limit')).toBe('20')
      expect(headers.get('x-ratelimit-policy')).toBe('10;burst=20')
      expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThanOrEqual(0)
    }
  })

  it('a second installation is not slowed down by the first', async () => {
    const [first, second] = await Promise.all([agentAndToken(), agentAndToken()])
    const flood = together(40, () => call('GET', '/api/v1/me', { token: first.token }))
    expect((await call('GET', '/api/v1/me', { token: second.token })).status).toBe(200)
    await flood
  })

  it('a developer has a burst of 40', async () => {
    const { agent } = await agentAndToken()
    const began = performance.now()
    const answers = await together(80, () => call('GET', '/api/v1/dev/me', agent))
    const elapsed = (performance.now() - began) / 1_000
    const passed = statuses(answers)[200] ?? 0
    // Creating the app has already taken from the bucket.
    expect(passed).toBeGreaterThanOrEqual(30)
    expect(passed).toBeLessThanOrEqual(41 + 10 * elapsed)
  })
})

describe('50 parallel redemptions of one code', () => {
  it('issue one pair of tokens, and invalid_grant 49 times', async () => {
    const agent = await newAgent(running.baseUrl, { endpoint: receiver.url })
    const { verifier, challenge } = pkce()
    const authorize = new URL('/oauth/authorize', running.baseUrl)
    authorize.search = new URLSearchParams({
      client_id: agent.app.client_id,
      redirect_uri: 'http://127.0.0.1:9/callback',
      response_type: 'code',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }).toString()
    const back = await consent(running.baseUrl, authorize, agent.sandboxId)
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: agent.app.client_id,
      client_secret: agent.app.client_secret,
      code: back.searchParams.get('code') ?? '',
      code_verifier: verifier,
    })
    const answers = await together(50, () => call('POST', '/oauth/token', { body }))
    expect(statuses(answers)).toEqual({ 200: 1, 400: 49 })
    for (const { status, body } of answers) if (status === 400) expect(body.error.code).toBe('invalid_grant')
  })
})

describe('parallel starts of runs', () => {
  it('leave five active; the others get too_many_active_runs', async () => {
    const { token } = await agentAndToken()
    const answers = await together(50, () => call('POST', '/api/v1/runs', { token, body: {} }))
    const { 201: started = 0, 409: refused = 0, 429: limited = 0 } = statuses(answers)
    expect([started, started + refused + limited], JSON.stringify(statuses(answers))).toEqual([5, 50])
    expect(refused).toBeGreaterThanOrEqual(15)
    for (const { status, body } of answers) if (status === 409) expect(body.error.code).toBe('too_many_active_runs')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const { items } = await must(running.baseUrl, 'GET', '/api/v1/runs', { token })
    expect(items).toHaveLength(5)
    expect((await call('POST', `/api/v1/runs/${items[0].id}/cancel`, { token })).status).toBe(200)
    expect((await call('POST', '/api/v1/runs', { token, body: {} })).status).toBe(201)
    expect((await call('POST', '/api/v1/runs', { token, body: {} })).status).toBe(409)
  })
})

describe('parallel requests with one Idempotency-Key', () => {
  it('create once: the others get the same answer or Retry-After', async () => {
    const { token } = await agentAndToken()
    const headers = { 'idempotency-key': randomUUID() }
    const body = { input: { n: 1 } }
    const answers = await together(15, () => call('POST', '/api/v1/runs', { token, headers, body }))
    const created = answers.filter(({ status }) => status === 201)
    expect(created.filter((one) => one.headers.get('idempotency-replayed') === null)).toHaveLength(1)
    expect(new Set(created.map(({ text }) => text)).size).toBe(1)
    for (const { status, body: refusal, headers: sent } of answers.filter(({ status }) => status !== 201)) {
      expect([status, refusal.error.code]).toEqual([409, 'conflict'])
      expect(Number(sent.get('retry-after'))).toBeGreaterThanOrEqual(1)
    }
    const { items } = await must(running.baseUrl, 'GET', '/api/v1/runs', { token })
    expect(items.map(({ id }: { id: string }) => id)).toEqual([created[0]?.body.id])
    const reused = await call('POST', '/api/v1/runs', { token, headers, body: { input: { n: 2 } } })
    expect([reused.status, reused.body.error.code]).toEqual([409, 'idempotency_key_reused'])
  })

  it('also create one developer account when sent before sign-in', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const body = { email: `${randomUUID()}@example.com`, name: 'Ada' }
    const answers = await together(10, () => call('POST', '/api/v1/dev/register', { headers, body }))
    const created = answers.filter(({ status }) => status === 201)
    expect(new Set(created.map(({ text }) => text)).size).toBe(1)
    for (const { status, body: refusal } of answers.filter(({ status }) => status !== 201)) {
      expect([status, refusal.error.code, refusal.error.message]).toEqual([
        409,
        'conflict',
        expect.stringMatching(/Idempotency/),
      ])
    }
  })
})
