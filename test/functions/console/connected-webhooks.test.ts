import { describe, expect, it } from 'vitest'
import { startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'
import { listAudit } from './people-support.ts'

const platform = usingPlatform()

type Scene = Awaited<ReturnType<typeof scene>>

/** Runs a test with a subscription at a receiver. */
const withWebhook = async (test: (made: Scene) => Promise<void>): Promise<void> => {
  const made = await scene()
  try {
    await test(made)
  } finally {
    await made.hooks.close()
  }
}

const scene = async () => {
  const hooks = await startReceiver()
  const app = await subscriber(platform)
  const { token } = app.person
  const webhook = await app.subscribe(`${hooks.url}/in?secret=s3cret`)
  const path = `/console/installations/${app.installation.id}/webhooks/${webhook.id}`
  const call = (method: string, to: string) => platform.call(method, to, { token })
  const listed = async () =>
    (await call('GET', '/console/connected-webhooks')).body.items.find(({ id }: { id: string }) => id === webhook.id)
  return { hooks, app, token, webhook, path, call, listed }
}

describe('GET /console/connected-webhooks', () => {
  it('shows admins where each app sends events, without secrets, path or query', async () => {
    await withWebhook(async ({ hooks, app, webhook, call, listed }) => {
      expect(await listed()).toEqual({
        id: webhook.id,
        installation_id: app.installation.id,
        app: { id: app.app.id, name: app.app.name, logo_path: expect.any(String) },
        origin: new URL(hooks.url).origin,
        events: ['*'],
        description: '',
        status: 'active',
        last_error: null,
        consecutive_failures: 0,
        created_at: expect.any(String),
        disabled_at: null,
      })
      const { text } = await call('GET', '/console/connected-webhooks')
      expect(text).not.toMatch(/whsec_|s3cret|\/in/)
    })
  })

  it('pages through the subscriptions of several apps, each once', async () => {
    const first = await subscriber(platform)
    const second = await subscriber(platform, { workspaceId: first.workspaceId })
    const expected = []
    for (const app of [first, second])
      for (let n = 0; n < 3; n++) expected.push((await app.subscribe(`https://hooks.example.com/${n}`)).id)
    const found: string[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''
      const { body } = await platform.call('GET', `/console/connected-webhooks?limit=2${query}`, {
        token: first.person.token,
      })
      expect(body.items.length).toBeLessThanOrEqual(2)
      found.push(...body.items.map(({ id }: { id: string }) => id))
      cursor = body.next_cursor
    } while (cursor)
    expect(found.sort()).toEqual(expected.sort())
  })

  it('shows deliveries with status codes, without what was sent or answered', async () => {
    await withWebhook(async ({ hooks, app, path, call }) => {
      hooks.answer({ kind: 'answer', status: 500, body: 'private answer' })
      await app.emit('order', { customer: 'private data' })
      await platform.drain()
      const { body, text } = await call('GET', `${path}/deliveries`)
      expect(body.items[0]).toMatchObject({
        event_type: 'custom.order',
        status: 'pending',
        attempts: [{ n: 1, response_code: 500 }],
      })
      expect(text).not.toContain('private')
    })
  })
})

describe('a subscription that an admin paused', () => {
  it('gets nothing, and the app learns it, until an admin resumes it', async () => {
    await withWebhook(async ({ hooks, app, webhook, path, call, listed }) => {
      expect((await call('POST', `${path}/pause`)).body.status).toBe('paused')
      await app.emit('order')
      await platform.drain()
      expect(hooks.requests).toEqual([])
      expect(await app.webhook(webhook.id)).toMatchObject({
        status: 'disabled',
        last_error: expect.stringContaining('An admin of the workspace paused'),
      })
      const told = (await app.feed('&types=webhook.disabled')).filter(({ data }) => data.webhook_id === webhook.id)
      expect(told).toHaveLength(1)
      await platform.drain()
      const before = (await listAudit(platform, app.workspaceId)).length
      expect(before).toBeGreaterThan(0)
      expect((await call('POST', `${path}/pause`)).body.status, 'a repeat changes nothing').toBe('paused')
      await platform.drain()
      expect(await listAudit(platform, app.workspaceId)).toHaveLength(before)

      expect((await call('POST', `${path}/resume`)).body).toMatchObject({ status: 'active', last_error: null })
      expect(await listed()).toMatchObject({ status: 'active' })
      await app.emit('later')
      await platform.drain()
      expect(hooks.requests.map(({ headers }) => headers['x-svc-event'])).toEqual(['custom.later'])
    })
  })

  it('can’t be enabled, tested, moved, deleted or replaced by the app, or have deliveries sent again', async () => {
    await withWebhook(async ({ hooks, app, webhook, path, call }) => {
      await app.emit('order')
      await platform.drain()
      const [delivery] = await app.deliveries(webhook.id)
      const other = await app.subscribe('https://elsewhere.example.com/')
      await call('POST', `${path}/pause`)
      hooks.requests.length = 0
      const own = `/webhooks/${webhook.id}`
      const attempts = [
        ['POST', `${own}/enable`],
        ['PATCH', own, { status: 'active' }],
        ['PATCH', own, { url: 'https://elsewhere.example.com/new' }],
        ['DELETE', own],
        ['POST', `${own}/test`],
        ['POST', `${own}/recover`, { since: '2020-01-01T00:00:00Z' }],
        ['POST', `${own}/deliveries/${delivery.id}/redeliver`],
        ['POST', '/webhooks', { url: `${hooks.url}/in?secret=s3cret`, events: ['*'] }],
        ['PATCH', `/webhooks/${other.id}`, { url: `${hooks.url}/in?secret=s3cret` }],
      ] as const
      for (const [method, to, body] of attempts) {
        const answer = await app.call(method, to, body)
        expect([answer.status, answer.body?.error?.details?.reason], `${method} ${to}`).toEqual([
          409,
          'paused_by_admin',
        ])
      }
      await platform.drain()
      expect(hooks.requests).toEqual([])
      expect((await app.webhook(webhook.id)).status).toBe('disabled')
    })
  })

  it('loses waiting deliveries to the pause, not to a worker that comes late', async () => {
    await withWebhook(async ({ hooks, app, webhook, path, call }) => {
      hooks.answer({ kind: 'answer', status: 500 })
      await app.emit('order')
      await platform.drain()
      const attempts = hooks.requests.length
      await call('POST', `${path}/pause`)
      platform.clock.advance(3_600_000)
      await platform.drain()
      expect(hooks.requests).toHaveLength(attempts)
      expect((await app.deliveries(webhook.id))[0].status).toBe('skipped')
    })
  })

  it('stays disabled when it is resumed, if it was before', async () => {
    await withWebhook(async ({ app, webhook, path, call }) => {
      await app.call('PATCH', `/webhooks/${webhook.id}`, { status: 'disabled' })
      await call('POST', `${path}/pause`)
      expect((await call('POST', `${path}/resume`)).body.status).toBe('disabled')
      expect((await app.call('POST', `/webhooks/${webhook.id}/enable`)).body.status).toBe('active')
    })
  })

  it('ends paused, however an app’s change and an admin’s pause meet', async () => {
    await withWebhook(async ({ app, webhook, path, call }) => {
      await Promise.all([
        call('POST', `${path}/pause`),
        app.call('PATCH', `/webhooks/${webhook.id}`, { status: 'disabled' }),
        app.call('PATCH', `/webhooks/${webhook.id}`, { status: 'active' }),
      ])
      expect((await app.webhook(webhook.id)).status).toBe('disabled')
      expect((await app.call('POST', `/webhooks/${webhook.id}/enable`)).body.error.details.reason).toBe(
        'paused_by_admin',
      )
    })
  })
})
