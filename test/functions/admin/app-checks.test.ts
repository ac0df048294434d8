import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AuditEntity, auditOf } from '#shared/staff/audit/entity.ts'
import { newApp, newDeveloper, publish } from '#testkit/developers.ts'
import { succeeded } from '#testkit/platform.ts'
import { type Answer, json, type Received, type Receiver, startReceiver, succeeds } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { whileWorking } from '#testkit/while-working.ts'
import { asAdmin, newModerator, submitApp } from './moderation-support.ts'

const platform = usingPlatform()
let outside: Receiver
beforeAll(async () => {
  outside = await startReceiver()
})
afterAll(() => outside.close())
beforeEach(() => {
  platform.clock.advance(60_000)
  outside.requests.length = 0
})

const admin = (...args: Parameters<ReturnType<typeof asAdmin>>) => {
  platform.clock.advance(1)
  return asAdmin(platform)(...args)
}

/** Returns the first bytes of a PNG of the given size. */
const png = (width: number, height: number): Uint8Array => {
  const bytes = Buffer.alloc(33)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  bytes.writeUInt32BE(13, 8)
  bytes.write('IHDR', 12, 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

const image = (body: Uint8Array, type = 'image/png'): Answer => ({
  kind: 'answer',
  headers: { 'content-type': type },
  body,
})
const refuses: Answer = { kind: 'answer', status: 401 }
const GOOD: Record<string, Answer> = {
  '/run': refuses,
  '/privacy': { kind: 'answer', body: 'Privacy' },
  '/home': { kind: 'answer', body: 'Home' },
  '/logo.png': image(png(256, 256)),
}

/** Sets the outside server's responses by path. */
const answers = (over: Record<string, Answer> = {}) => {
  const all = { ...GOOD, ...over }
  outside.answer(({ path }: Received) => all[path] ?? { kind: 'answer', status: 404 })
}

const submission = (fields: Record<string, unknown> = {}) =>
  submitApp(
    platform,
    {
      logo_url: `${outside.url}/logo.png`,
      privacy_url: `${outside.url}/privacy`,
      homepage_url: `${outside.url}/home`,
      requested_scopes: ['runs:read'],
      ...fields,
    },
    { runtime: { type: 'webhook', endpoint: `${outside.url}/run` } },
  )

interface Check {
  id: string
  status: string
  message: string
  fix: string | null
  evidence: Record<string, unknown>
  duration_ms: number
}
const look = async (id: string, query = '?fresh=true') => {
  const body = await succeeded(admin('GET', `/admin/apps/${id}/checks${query}`))
  const of = (name: string): Check => body.checks.find((check: Check) => check.id === name)
  return { body, of }
}

describe('the checks of a submission', () => {
  it('pass for a valid submission, each with its evidence', async () => {
    answers()
    const { app, version } = await submission()
    const { body, of } = await look(app.id)
    expect(body).toMatchObject({ app_id: app.id, version: { id: version, version: '1.0.0' }, stored: false })
    const statuses = Object.fromEntries(body.checks.map(({ id, status }: Check) => [id, status]))
    expect(statuses).toMatchObject({
      manifest: 'passed',
      address_guard: 'passed',
      endpoint_reachable: 'passed',
      signature_refusal: 'passed',
      privacy_url: 'passed',
      homepage_url: 'passed',
      logo: 'passed',
      dangerous_scopes: 'passed',
      scopes_used: 'skipped',
      test_run: 'warning',
    })
    expect(of('signature_refusal').evidence).toMatchObject({
      unsigned: { http_status: 401 },
      wrongly_signed: { http_status: 401 },
    })
    expect(of('logo').evidence).toMatchObject({ width: 256, height: 256, format: 'png', content_type: 'image/png' })
    const calls = outside.requests.filter(({ path }) => path === '/run')
    expect(calls.map(({ headers }) => headers['x-svc-signature'] !== undefined).sort()).toEqual([false, true])
  })

  it('fetch the card of an A2A agent again, and warn about one that has changed', async () => {
    const supportedInterfaces = [{ url: `${outside.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
    const card = (name: string) => json({ name, supportedInterfaces })
    answers({ '/card.json': card('Outside') })
    const runtime = { type: 'a2a', card_url: `${outside.url}/card.json` }
    const { app } = await submitApp(platform, { requested_scopes: ['runs:read'] }, { runtime })
    const same = (await look(app.id)).of
    expect(same('endpoint_reachable')).toMatchObject({
      status: 'passed',
      evidence: {
        card_url: runtime.card_url,
        name: 'Outside',
        interface: { url: `${outside.url}/a2a`, version: '1.0' },
      },
    })
    expect(same('signature_refusal').status).toBe('skipped')
    expect(same('address_guard').evidence).toMatchObject({
      addresses: expect.arrayContaining([expect.objectContaining({ field: 'card_interface' })]),
    })
    answers({ '/card.json': card('Someone else') })
    expect((await look(app.id)).of('endpoint_reachable')).toMatchObject({
      status: 'warning',
      evidence: { name: 'Outside', current: { name: 'Someone else' } },
    })
    answers({ '/card.json': { kind: 'redirect', location: `${outside.url}/run` } })
    expect((await look(app.id)).of('endpoint_reachable').status).toBe('failed')
  })

  it('fail an endpoint that accepts unsigned requests, and warn about one that refuses for another reason', async () => {
    const { app } = await submission()
    for (const [status, expected] of [
      [200, 'failed'],
      [202, 'failed'],
      [302, 'failed'],
      [500, 'failed'],
      [404, 'warning'],
      [429, 'warning'],
      [403, 'passed'],
    ] as const) {
      answers({ '/run': { kind: 'answer', status } })
      const { of } = await look(app.id)
      expect([of('signature_refusal').status, status], of('signature_refusal').message).toEqual([expected, status])
      platform.clock.advance(60_000)
    }
    outside.answer(({ path, headers }: Received) =>
      path === '/run' && headers['x-svc-signature'] ? { kind: 'answer', status: 200 } : (GOOD[path] ?? refuses),
    )
    expect((await look(app.id)).of('signature_refusal').status, 'it looks at the header’s form only').toBe('failed')
  })

  it('fail a logo that is not an image, is too large, or doesn’t match its type', async () => {
    const { app } = await submission()
    for (const [logo, expected] of [
      [image(Buffer.from('<html>')), 'failed'],
      [image(png(256, 256), 'text/html'), 'failed'],
      [image(Buffer.concat([png(256, 256), Buffer.alloc(1_100_000)])), 'failed'],
      [image(png(9_000, 9_000)), 'failed'],
      [image(png(16, 16)), 'warning'],
      [image(Buffer.from('<svg/>'), 'image/svg+xml'), 'warning'],
      [{ kind: 'bomb', encoding: 'gzip', bytes: 50_000_000 }, 'failed'],
      [{ kind: 'answer', status: 404 }, 'failed'],
      [{ kind: 'redirect', location: `${outside.url}/home` }, 'failed'],
    ] as const) {
      answers({ '/logo.png': logo })
      const { of } = await look(app.id)
      expect(of('logo').status, of('logo').message).toBe(expected)
      expect(of('logo').fix).toBeTruthy()
      platform.clock.advance(60_000)
    }
  })

  it('follow a page’s redirects, but not to internal addresses and not endlessly', async () => {
    answers({
      '/privacy': { kind: 'redirect', location: `${outside.url}/home` },
      '/logo.png': { kind: 'redirect', location: 'http://169.254.169.254/latest/meta-data' },
    })
    const { app } = await submission()
    const { of } = await look(app.id)
    expect(of('privacy_url')).toMatchObject({
      status: 'passed',
      evidence: { addresses: [`${outside.url}/privacy`, `${outside.url}/home`] },
    })
    expect(of('logo')).toMatchObject({ status: 'failed', evidence: { failure: 'blocked' } })
    expect(of('address_guard').status).toBe('failed')
    platform.clock.advance(60_000)
    answers({ '/privacy': { kind: 'redirect', location: `${outside.url}/privacy` } })
    expect((await look(app.id)).of('privacy_url').status).toBe('failed')
    expect(outside.requests.filter(({ path }) => path === '/privacy').length).toBeLessThanOrEqual(5)
  })

  it('finish in bounded time and with a bounded response, whatever the other side does', async () => {
    answers({
      '/run': { kind: 'drip', everyMs: 200 },
      '/privacy': { kind: 'hang' },
      '/home': { kind: 'endless' },
      '/logo.png': { kind: 'raw', text: 'SSH-2.0-OpenSSH\r\n' },
    })
    const { app } = await submission()
    const begun = performance.now()
    const { of } = await look(app.id)
    expect(performance.now() - begun).toBeLessThan(25_000)
    expect(of('endpoint_reachable')).toMatchObject({ status: 'failed', evidence: { failure: 'timeout' } })
    expect(of('signature_refusal').status).toBe('failed')
    expect(of('privacy_url')).toMatchObject({ status: 'failed', evidence: { failure: 'timeout' } })
    expect(of('homepage_url').status).toBe('passed')
    expect(of('logo')).toMatchObject({ status: 'failed', evidence: { failure: 'decode' } })
  })

  it('are kept until the submission changes, and are rate limited', async () => {
    answers()
    const { app, developer } = await submission()
    await look(app.id, '')
    const calls = outside.requests.length
    platform.clock.advance(9 * 60_000)
    expect((await look(app.id, '')).body.stored).toBe(true)
    expect(outside.requests.length).toBe(calls)
    const queue = await admin('GET', '/admin/review?limit=100')
    expect(queue.body.items.find((item: { app: { id: string } }) => item.app.id === app.id).checks).toMatchObject({
      passed: 9,
      warning: 1,
    })
    await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { summary: 'Another summary.' })
    expect((await look(app.id, '')).body.stored).toBe(false)
    platform.clock.advance(11 * 60_000)
    expect((await look(app.id, '')).body.stored).toBe(false)
    const many = await Promise.all(
      Array.from({ length: 14 }, () => admin('GET', `/admin/apps/${app.id}/checks?fresh=true`)),
    )
    const refused = many.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(4)
    expect(refused[0]?.headers['retry-after']).toBeDefined()
  })

  it('require a version that belongs to the app', async () => {
    answers()
    const bare = await newApp(await newDeveloper(platform))
    expect((await admin('GET', `/admin/apps/${bare.id}/checks`)).body.error.code).toBe('no_manifest')
    const [one, other] = [await submission(), await submission()]
    const foreign = await admin('GET', `/admin/apps/${one.app.id}/checks?version=${other.version}`)
    expect(foreign.body.error.code).toBe('not_found')
  })
})

describe('a test installation by moderation', () => {
  const testInstall = async (id: string, body: object = { input: { q: 1 } }, headers?: Record<string, string>) => {
    return whileWorking(platform, admin('POST', `/admin/apps/${id}/test-install`, body, headers))
  }
  it('performs one real run in a sandbox of the app’s own, which the checks then take into account', async () => {
    answers({ '/run': succeeds({ output: { answer: 42 } }) })
    const [one, other] = [await submission({ requested_scopes: ['files:write'] }), await submission()]
    const { status, body } = await testInstall(one.app.id)
    expect([status, body.run.status, body.run.output]).toEqual([200, 'succeeded', { answer: 42 }])
    expect(body.agent.version).toBe('1.0.0')
    expect(body.workspace_id).not.toBe(one.developer.workspaceId)
    const sent = JSON.parse(String(outside.requests.find(({ path }) => path === '/run')?.body))
    expect(sent.installation.owner, 'the agent meets no moderator by name').toEqual({
      id: 'moderation',
      name: 'Moderation',
    })
    expect((await testInstall(other.app.id)).body.workspace_id).not.toBe(body.workspace_id)
    const again = await testInstall(one.app.id)
    expect([again.body.installation_id, again.body.workspace_id]).toEqual([body.installation_id, body.workspace_id])
    const { items } = await platform.deps.table.listed(AuditEntity, auditOf(one.app.id), { limit: 1 })
    expect(items[0]).toMatchObject({ action: 'app.test_installed', details: { run_id: again.body.run.id } })
    answers()
    const { of } = await look(one.app.id)
    expect(of('test_run')).toMatchObject({ status: 'passed', evidence: { run_id: again.body.run.id } })
    expect(of('scopes_used')).toMatchObject({ status: 'warning', evidence: { unused_dangerous: ['files:write'] } })
    expect(of('dangerous_scopes').status).toBe('warning')
  })

  it('tests the version under review, and returns a run that failed', async () => {
    answers({ '/run': { kind: 'answer', status: 500 } })
    const { app, developer } = await submission()
    await admin('POST', `/admin/apps/${app.id}/approve`)
    await publish(developer, app, { version: '1.1.0', runtime: { type: 'webhook', endpoint: `${outside.url}/run` } })
    const { status, body } = await testInstall(app.id)
    expect([status, body.agent.version, body.run.status]).toEqual([200, '1.1.0', 'failed'])
    await admin('POST', `/admin/apps/${app.id}/suspend`, { reason: 'Abuse.' })
    expect((await testInstall(app.id)).body.error.code).toBe('app_suspended')
  })

  it('is limited to six a minute per moderator', async () => {
    const { headers } = await newModerator(platform)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        admin('POST', '/admin/apps/app_01kae5m1v8w6c3x9q2r7t4y0zn/test-install', {}, headers),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([404, 404, 404, 404, 404, 404, 429, 429])
  })
})
