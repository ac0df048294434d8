import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EVENTS } from '#shared/delivery/catalogue/catalogue.ts'
import { SAMPLED_TYPES, sampleData } from '#shared/delivery/test-events/samples.ts'
import { newDeveloper, type TestApp, type TestDeveloper } from '#testkit/developers.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { newSandboxedApp } from './listen-support.ts'

const platform = usingPlatform()
let developer: TestDeveloper
let app: TestApp
let token: string

const receiver = usingReceiver()
beforeAll(async () => {
  developer = await newDeveloper(platform)
  ;({ app, token } = await newSandboxedApp(developer))
  await platform.call('POST', '/api/v1/webhooks', { token, body: { url: receiver.url, events: ['*'] } })
  await platform.drain()
})
beforeEach(() => {
  platform.clock.advance(60_000)
  receiver.requests.length = 0
})

const trigger = (body: object) => developer.call('POST', '/api/v1/dev/sandbox/trigger', body)

const VISIBLE = Object.entries(EVENTS).flatMap(([type, { audience }]) =>
  (audience as string) === 'internal' ? [] : [type.replace('*', 'order.paid')],
)

describe('POST /api/v1/dev/sandbox/trigger', () => {
  it.each(VISIBLE)(
    'sends %s to the webhooks and the feed of the sandbox installation, marked as a test',
    async (type) => {
      const { status, body } = await trigger({ app_id: app.id, type })
      expect(status).toBe(201)
      expect(body).toMatchObject({ type, test: true, workspace_id: developer.workspaceId })
      await platform.drain()
      expect(receiver.requests.map((request) => JSON.parse(request.body.toString()))).toEqual([body])
      const { body: page } = await platform.call('GET', `/api/v1/events?types=${type}`, { token })
      expect(page.items).toContainEqual(body)
    },
  )

  it('has a valid sample of every type that receivers get', () => {
    const about = { app_id: app.id, installation_id: 'ins_1', scopes: [], now: platform.clock.now() }
    const types = Object.keys(EVENTS).filter(
      (type) => (EVENTS[type as 'run.created'].audience as string) !== 'internal',
    )
    expect(SAMPLED_TYPES.sort()).toEqual(types.sort())
    for (const type of SAMPLED_TYPES) {
      const data = sampleData(type, about)
      expect(EVENTS[type].data().parse(data), type).toEqual(data)
    }
  })

  it('replaces fields of the sample', async () => {
    const { body } = await trigger({ app_id: app.id, type: 'run.succeeded', data: { duration_ms: 12 } })
    expect(body.data).toMatchObject({ duration_ms: 12, status: 'succeeded', app_id: app.id })
    const wrong = await trigger({ app_id: app.id, type: 'run.succeeded', data: { duration_ms: 'long' } })
    expect([wrong.status, wrong.body.error.details.fields]).toEqual([422, { 'data.duration_ms': [expect.any(String)] }])
    await platform.drain()
  })

  it('refuses types that receivers don’t get, with a suggestion', async () => {
    for (const type of ['approval.decided', 'delivery.requested', 'run.*', '*', 'custom.*', 'nothing']) {
      expect((await trigger({ app_id: app.id, type })).status, type).toBe(422)
    }
    const { body } = await trigger({ app_id: app.id, type: 'run.suceeded' })
    expect(body.error.details.fields.type).toEqual(['unknown event type; did you mean run.succeeded?'])
  })

  it('refuses a type that the app can’t read, and names the scope to request', async () => {
    const plain = await newSandboxedApp(developer, ['workspace:read', 'webhooks:manage'])
    const { status, body } = await trigger({ app_id: plain.app.id, type: 'message.created' })
    expect([status, body.error.code, body.error.details]).toEqual([
      403,
      'insufficient_scope',
      {
        required_scope: 'chat:read',
        granted_scopes: ['workspace:read', 'webhooks:manage'],
        types: ['message.created'],
      },
    ])
    expect(body.error.fix).toContain('requested_scopes')
    expect((await trigger({ app_id: plain.app.id, type: 'custom.order' })).status).toBe(201)
    await platform.drain()
  })

  it('notifies no other app in the sandbox, and counts nothing', async () => {
    const neighbour = await newSandboxedApp(developer)
    await platform.drain()
    const before = await developer.call('GET', `/api/v1/dev/apps/${app.id}/stats`)
    const { body: event } = await trigger({ app_id: app.id, type: 'installation.removed' })
    await trigger({ app_id: app.id, type: 'installation.created' })
    await platform.drain()
    const { body } = await platform.call('GET', '/api/v1/events', { token: neighbour.token })
    expect(body.items.map(({ id }: { id: string }) => id)).not.toContain(event.id)
    expect((await developer.call('GET', `/api/v1/dev/apps/${app.id}/stats`)).body).toEqual(before.body)
  })
})
