import { describe, expect, it } from 'vitest'
import { GrantEntity } from '#shared/access/grants/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { succeeded } from '#testkit/platform.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'

const platform = usingPlatform()

const SECRET = 'The account number is 4711.'

/** Lets a person write about one of the app's tasks. The app gets the text as `message.created`. */
const scene = async (scopes: readonly Scope[]) => {
  const app = await subscriber(platform, { scopes })
  const asPerson = async (method: string, path: string, body: unknown) => {
    // Issued for each call, since the tests let time pass.
    const { user, session } = app.person
    const claims = { ses: session.id, usr: user.id, ws: app.workspaceId, mem: user.created_at }
    const { token } = await issueToken(platform.deps, 'console', claims)
    return succeeded(platform.call(method, path, { token, body }))
  }
  const task = await asPerson('POST', '/console/tasks', { title: 'Count', installation_id: app.installation.id })
  return {
    ...app,
    write: async (text = SECRET) => {
      platform.clock.advance(1)
      await asPerson('POST', `/console/tasks/${task.id}/messages`, { text })
      await platform.drain()
    },
    ban: (...denied_scopes: Scope[]) => asPerson('PUT', '/console/settings/bans', { denied_tools: [], denied_scopes }),
    types: async () => (await app.feed()).map(({ type }) => type),
  }
}

const WITHOUT_CHAT: Scope[] = ['workspace:read', 'webhooks:manage', 'tasks:read']
const WITH_CHAT: Scope[] = [...WITHOUT_CHAT, 'chat:read']

describe('an app without chat:read', () => {
  it('polls no text of a message', async () => {
    const app = await scene(WITHOUT_CHAT)
    await app.write()
    for (const query of ['', '?types=message.created', '?types=message.*', '?types=*']) {
      const { status, text } = await app.call('GET', `/events${query}`)
      expect([status, text.includes(SECRET)], query).toEqual([200, false])
    }
    expect(await app.types()).toContain('task.updated')
  })

  it('gets no text of a message by a webhook for everything', async () => {
    await using receiver = await startReceiver()
    const app = await scene(WITHOUT_CHAT)
    await app.subscribe(receiver.url)
    await app.write()
    expect(receiver.requests.map(({ headers }) => headers['x-svc-event'])).toContain('task.updated')
    expect(receiver.requests.filter(({ body }) => body.includes(SECRET))).toEqual([])
  })

  it.each(['message.created', 'message.*'])('can’t subscribe to %s', async (mask) => {
    const app = await scene(WITHOUT_CHAT)
    const url = 'https://hooks.example.com/in'
    const refused = await app.call('POST', '/webhooks', { url, events: ['task.*', mask] })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.body.error.details).toEqual({
      required_scope: 'chat:read',
      required_scopes: ['chat:read'],
      granted_scopes: WITHOUT_CHAT,
      types: ['message.created'],
    })
    expect(refused.body.error.message).toContain('message.created')
    expect((await app.call('GET', '/webhooks')).body.items).toEqual([])
    expect((await app.call('POST', '/webhooks', { url, events: ['task.*', '*', 'custom.*'] })).status).toBe(201)
  })

  it('can’t get an earlier token’s wider view of the feed by a narrower grant', async () => {
    const app = await scene(WITH_CHAT)
    await app.write()
    expect(await app.types()).toContain('message.created')
    await platform.deps.table.transact([GrantEntity.update(app.grant, { set: { scopes: WITHOUT_CHAT } })])
    expect(await app.types()).not.toContain('message.created')
  })
})

describe('after an admin denied chat:read', () => {
  it('an app polls neither new messages nor those it could read before', async () => {
    const app = await scene(WITH_CHAT)
    await app.write('before the ban')
    expect(await app.types()).toContain('message.created')
    await app.ban('chat:read')
    await app.write()
    expect(await app.types()).not.toContain('message.created')
    await app.ban()
    const texts = (await app.feed('&types=message.created')).map(({ data }) => data.text)
    // Events of the time of the ban never reach the app.
    expect(texts).toEqual(['before the ban'])
  })

  it('a webhook brings no messages, and delivers none that waited', async () => {
    await using receiver = await startReceiver()
    const app = await scene(WITH_CHAT)
    receiver.answer({ kind: 'answer', status: 500 })
    const { id } = await app.subscribe(receiver.url, ['message.created'])
    await app.write('before the ban')
    expect(receiver.requests).toHaveLength(1)
    await app.ban('chat:read')
    platform.clock.advance(3_600_000)
    await platform.drain()
    await app.write()
    expect(receiver.requests).toHaveLength(1)
    const deliveries = await app.deliveries(id)
    expect(deliveries.map(({ status }: { status: string }) => status)).toEqual(['skipped'])
  })

  it('an app can’t have a message sent again', async () => {
    await using receiver = await startReceiver()
    const app = await scene(WITH_CHAT)
    const { id } = await app.subscribe(receiver.url, ['message.created', 'task.*'])
    await app.write()
    const sent = receiver.requests.length
    const deliveries: { id: string; event_type: string }[] = await app.deliveries(id)
    const of = (type: string) => deliveries.find(({ event_type }) => event_type === type)?.id
    await app.ban('chat:read')
    const refused = await app.call('POST', `/webhooks/${id}/deliveries/${of('message.created')}/redeliver`)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
    const since = new Date(platform.clock.now() - 3_600_000).toISOString()
    expect((await app.call('POST', `/webhooks/${id}/recover`, { since })).status).toBe(200)
    expect((await app.call('POST', `/webhooks/${id}/deliveries/${of('task.updated')}/redeliver`)).status).toBe(200)
    await platform.drain()
    expect(receiver.requests.slice(sent).map(({ headers }) => headers['x-svc-event'])).toEqual(['task.updated'])
  })

  it('an app can’t subscribe to messages', async () => {
    const app = await scene(WITH_CHAT)
    await app.ban('chat:read')
    const body = { url: 'https://hooks.example.com/in', events: ['message.created'] }
    const refused = await app.call('POST', '/webhooks', body)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.body.error.details.types).toEqual(['message.created'])
    await app.ban()
    expect((await app.call('POST', '/webhooks', body)).status).toBe(201)
  })
})
