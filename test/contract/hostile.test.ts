import { beforeEach, describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { newId } from '#shared/kernel/ids.ts'
import { findUnstorable } from '#shared/kernel/storable.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { isSampled } from '#testkit/sampling.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { usingWorld } from '#testkit/using-stage.ts'
import { createWorld, pathWithUnknownIds } from '#testkit/world.ts'
import { fieldsOf } from './fields.ts'

const platform = usingPlatform()
const world = usingWorld(platform)
const agent = usingReceiver()
beforeEach(() => platform.clock.advance(60_000))

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const HALF = '"\\ud800"'

/** Bodies as text, since no serializer would write some of them. */
const BODIES = (field: string): string[] => [
  `{"${field}":${HALF}}`,
  `{"${field}":{"x":${HALF}}}`,
  `{"${field}":{${HALF}:1}}`,
  `{"${field}":${nested(5_000)}}`,
  `{"${field}":{"__proto__":{"polluted":1}}}`,
  `{"__proto__":{"${field}":1}}`,
  `{"${field}":"\\u0000"}`,
  `{"${field}":1e400}`,
  `{"${field}":""}`,
  `{"${field}":"   "}`,
  `{"${field}":null}`,
]

/** The endpoint's own fields and an unknown one. Where it takes any JSON, some fields of a manifest. */
const fieldsToTry = (endpoint: Endpoint): string[] => [
  ...(endpoint.anyJson ? ['name', 'runtime', 'tools'] : fieldsOf(endpoint)),
  'surely_no_such_field',
]

describe('values that no table or serializer accepts', () => {
  const writing = Object.values(requestFunctions)
    .flat()
    .filter(({ method, consumes }) => method !== 'GET' && consumes !== 'form' && consumes !== 'ignored')
    .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const)

  it.each(writing)('%s answers without failing', async (_name, endpoint) => {
    const headers = world.credentials[endpoint.caller] ?? {}
    for (const [at, field] of fieldsToTry(endpoint).entries()) {
      for (const body of BODIES(field).filter((_, n) => isSampled(at + n, 6))) {
        platform.clock.advance(1_000)
        const answer = await platform.call(endpoint.method, pathWithUnknownIds(endpoint), { headers, body })
        expect(answer.status, `${body.slice(0, 60)} → ${answer.text.slice(0, 200)}`).toBeLessThan(500)
      }
    }
  })
})

describe('an unsigned token', () => {
  it('is refused by every group of endpoints and never causes a failure', async () => {
    const header = (typ: string) => Buffer.from(JSON.stringify({ alg: 'HS256', typ })).toString('base64url')
    for (const typ of ['at+jwt', 'callback+jwt', 'surface+jwt', 'console+jwt', 'admin+jwt', 'jwt']) {
      for (const path of ['/api/v1/me', '/api/v1/dev/me', '/console/me', '/admin/me', '/oauth/consent/request?tg=x']) {
        platform.clock.advance(1_000)
        const answer = await platform.call('GET', path, { token: `${header(typ)}.e30.AAAA` })
        expect([401, 403], `${typ} ${path} ${answer.text}`).toContain(answer.status)
      }
    }
  })
})

describe('an agent’s answer', () => {
  it.each([
    ['nested 5,000 levels deep', `{"status":"succeeded","output":${nested(5_000)}}`, 'failed'],
    ['with half a surrogate pair', `{"status":"failed","error_code":"x","error_message":${HALF}}`, 'failed'],
    [
      'whose message is cut in the middle of a character',
      JSON.stringify({ status: 'failed', error_code: 'x', error_message: `${'m'.repeat(3_999)}😀` }),
      'failed',
    ],
    ['with a cost below the smallest number of the table', '{"status":"succeeded","cost_units":1e-200}', 'succeeded'],
  ])('%s still ends the run at once', async (_what, body, status) => {
    agent.answer({ kind: 'answer', status: 200, body })
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await platform.drain()
    expect((await platform.call('GET', `/api/v1/runs/${run.id}`, { token: app.token })).body.status).toBe(status)
  })
})

describe('a run at its limits', () => {
  const running = async () => {
    agent.answer({ kind: 'answer', status: 202 })
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await platform.drain()
    const token = await callbackToken(platform.deps, app, run.id)
    return { app, run, token, path: `/api/v1/runs/${run.id}` }
  }

  it('has at most 200 steps, whatever their numbers and however many are sent at once', async () => {
    const { app, run, token, path } = await running()
    await platform.call('POST', `${path}/steps`, { token, body: { seq: 1_000 } })
    await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        platform.call('POST', `${path}/steps`, {
          token,
          body: { steps: Array.from({ length: 25 }, (_, i) => ({ seq: n * 25 + i + 1 })) },
        }),
      ),
    )
    const { body } = await platform.call('GET', path, { token: app.token })
    expect(body.steps.length).toBeLessThanOrEqual(200)
    void run
  })

  it('completed with the seq of its pending approval answers step_write_conflict', async () => {
    const { token, path } = await running()
    await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body: { arguments: { url: agent.url } } })
    const answer = await platform.call('POST', `${path}/complete`, {
      token,
      body: { status: 'succeeded', steps: [{ seq: 1 }] },
    })
    expect([answer.status, answer.body.error.code]).toEqual([409, 'step_write_conflict'])
  })

  it('does not execute an approved call after it was cancelled', async () => {
    const { app, run, token, path } = await running()
    const args = { arguments: { url: `${agent.url}/approved` } }
    const { body } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token, body: args })
    await platform.call('POST', `/console/runs/${run.id}/steps/${body.step_id}/decision`, {
      token: app.person.token,
      body: { decision: 'approve' },
    })
    await platform.call('POST', `${path}/cancel`, { token: app.token })
    await platform.drain()
    expect(agent.requests.filter((request) => request.path === '/approved')).toEqual([])
    const seen = await platform.call('GET', path, { token: app.token })
    expect(seen.body.steps[0].status).toBe('voided')
  })

  it('fits into an answer along with other runs of a megabyte: the page ends early and continues', async () => {
    const { app } = await running()
    for (let i = 0; i < 7; i++) {
      platform.clock.advance(1_000)
      const started = await platform.call('POST', '/api/v1/runs', {
        token: app.token,
        body: { input: { big: 'x'.repeat(1_000_000) } },
      })
      await platform.call('POST', `/api/v1/runs/${started.body.id}/cancel`, { token: app.token })
    }
    const seen = []
    let cursor: string | null = null
    do {
      const query: string = cursor ? `?cursor=${cursor}` : ''
      const page = await platform.call('GET', `/api/v1/runs${query}`, { token: app.token })
      expect(page.text.length).toBeLessThan(6_000_000)
      seen.push(...page.body.items)
      cursor = page.body.next_cursor
    } while (cursor)
    expect(seen).toHaveLength(8)
  })

  it('that failed with texts of control characters fits into an answer, too', async () => {
    const { app, run } = await running()
    const key = { installation_id: app.installation.id, id: run.id }
    const known = await platform.deps.table.get(RunEntity, key)
    if (!known) throw new Error('the run is known from above')
    const input = { json: JSON.stringify({ path: '\\'.repeat(13_500) }) }
    for (let n = 0; n < 100; n++) {
      const id = newId('run', platform.clock.now())
      const error_message = '\u0001'.repeat(4_000)
      await platform.deps.table.transact([RunEntity.create({ ...known, id, status: 'failed', input, error_message })])
    }
    const { body, text } = await platform.call('GET', '/api/v1/runs?limit=100', { token: app.token })
    expect(body.has_more).toBe(true)
    // The function's answer holds the body as JSON text within JSON.
    expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(6 * 1_024 * 1_024)
  })
})

it('a cursor with an appended character, or another last character, is refused', async () => {
  // With a fresh token, because the tests before took hours of clock time.
  const { integration } = await createWorld(platform)
  for (let i = 0; i < 3; i++) {
    platform.clock.advance(1_000)
    await platform.call('POST', '/api/v1/runs', { token: integration.token, body: {} })
  }
  const { body } = await platform.call('GET', '/api/v1/runs?limit=1', { token: integration.token })
  const good: string = body.next_cursor
  const others = ['A', 'B', 'Q', 'g', 'w', '_'].filter((char) => char !== good.at(-1))
  for (const cursor of [`${good}!!`, `${good}=`, ...others.map((char) => good.slice(0, -1) + char)]) {
    platform.clock.advance(1_000)
    const answer = await platform.call('GET', `/api/v1/runs?limit=1&cursor=${encodeURIComponent(cursor)}`, {
      token: integration.token,
    })
    expect([answer.status, answer.body.error?.code], cursor).toEqual([400, 'bad_request'])
  }
})

it('of two requests with the same expired Idempotency-Key at the same time, one is answered and the other gets Retry-After', async () => {
  const { lockIdempotencyKey } = await import('#shared/http/idempotency.ts')
  const first = await lockIdempotencyKey(platform.deps, 'scope', '{}', 'req_1', {})
  await platform.deps.table.transact([await first.completion({ status: 200, headers: {}, body: '{}' })])
  platform.clock.advance(25 * 3_600_000)
  const outcomes = await Promise.allSettled(
    ['req_2', 'req_3', 'req_4'].map((id) => lockIdempotencyKey(platform.deps, 'scope', '{}', id, {})),
  )
  const codes = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
  expect(new Set(codes)).toEqual(new Set(['conflict']))
  expect(codes).toHaveLength(2)
})

it('a deliveries cursor older than the retained deliveries gives an empty page', async () => {
  const app = await installed(platform.deps)
  const webhook = await platform.call('POST', '/api/v1/webhooks', {
    token: app.token,
    body: { url: agent.url, events: ['*'] },
  })
  const path = `/api/v1/webhooks/${webhook.body.id}/deliveries?limit=1`
  for (let i = 0; i < 2; i++)
    await platform.call('POST', `/api/v1/webhooks/${webhook.body.id}/test`, { token: app.token })
  const { body } = await platform.call('GET', path, { token: app.token })
  platform.clock.advance(31 * 86_400_000)
  const { token } = await issueToken(platform.deps, 'access', {
    ins: app.installation.id,
    ws: app.workspaceId,
    app: app.app.id,
    grt: app.grant.id,
    sv: 1,
  })
  const later = await platform.call('GET', `${path}&cursor=${body.next_cursor}`, { token })
  expect([later.status, later.body.items]).toEqual([200, []])
})

it('a stored tool result is not returned again once the tool is banned', async () => {
  const app = await installed(platform.deps)
  const invoke = () =>
    platform.call('POST', '/api/v1/tools/workspace_info/invoke', {
      token: app.token,
      body: { arguments: {} },
      headers: { 'idempotency-key': 'tool-1' },
    })
  expect((await invoke()).body.status).toBe('ok')
  expect((await invoke()).headers['idempotency-replayed']).toBe('true')
  await platform.deps.table.transact([
    InstallationEntity.update(app.installation, { set: { denied_tools: ['workspace_info'] } }),
  ])
  expect((await invoke()).body.error.code).toBe('tool_denied')
})

describe('the check of values before they are stored', () => {
  it('accepts a flat array of a million numbers, and finds an error at its end', () => {
    const many: unknown[] = Array.from({ length: 1_000_000 }, () => 1)
    expect(findUnstorable({ many })).toBeUndefined()
    expect(findUnstorable({ many: [...many, '\ud800'] })).toContain('surrogate')
    expect(findUnstorable(JSON.parse('{"a":[{"__proto__":1}]}'))).toContain('__proto__')
    expect(findUnstorable(JSON.parse(`${'['.repeat(201)}${']'.repeat(201)}`))).toContain('200 levels')
    expect(findUnstorable(JSON.parse(`${'['.repeat(199)}1${']'.repeat(199)}`))).toBeUndefined()
  })
})
