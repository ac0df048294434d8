import { describe, expect, it } from 'vitest'
import { allowInstalling, installedAgain } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber, subscribing } from '#testkit/webhooks.ts'
import { expectRefusal } from './support.ts'

const platform = usingPlatform()

type App = Pick<Awaited<ReturnType<typeof subscriber>>, 'call' | 'installation'>

/** An app with a subscription that an admin can pause. */
const scene = async () => {
  const app = await subscriber(platform)
  const as = (method: string, path: string, body?: object) => {
    platform.clock.advance(1_000)
    return platform.call(method, `/console${path}`, { token: app.person.token, body })
  }
  const turn = (id: string, how: 'pause' | 'resume', one: App = app) =>
    succeeded(as('POST', `/installations/${one.installation.id}/webhooks/${id}/${how}`))
  const listed = async () => (await succeeded(as('GET', '/connected-webhooks'))).items
  return { app, as, turn, listed }
}

const URL_ = 'https://hooks.example.com/in'

const SAME_ORIGIN = [
  URL_,
  `${URL_}?again`,
  `${URL_}#again`,
  `${URL_}/other/path`,
  'https://hooks.example.com',
  'HTTPS://Hooks.Example.COM/in',
  'https://hooks.example.com:443/in',
  'https://hooks.ex%61mple.com/in',
  'https://hooks\u3002example\u3002com/in',
  'https://hooks.example.com/%69n',
]

/** Expects that the app can’t have its events sent to an address, by a new subscription or by an old one. */
const refusedAt = async (app: App, url: string, other: { id: string }) => {
  const attempts = [
    await app.call('POST', '/webhooks', { url, events: ['*'] }),
    await app.call('PATCH', `/webhooks/${other.id}`, { url }),
  ]
  for (const answer of attempts) {
    expectRefusal(answer, url, 'conflict')
    expect(answer.body.error.details.reason, url).toBe('paused_by_admin')
  }
}

describe('an app whose webhook an admin paused', () => {
  it('doesn’t go on under another address at the same origin, however it is spelled', async () => {
    const { app, turn } = await scene()
    const webhook = await app.subscribe(URL_)
    const other = await app.subscribe('https://elsewhere.example.com/')
    await turn(webhook.id, 'pause')
    for (const url of SAME_ORIGIN) await refusedAt(app, url, other)
    // Other origins, and other apps, are what they were.
    expect((await app.subscribe('https://hooks.example.com:8443/in')).status).toBe('active')
    const neighbour = await subscriber(platform, { workspaceId: app.workspaceId })
    expect((await neighbour.subscribe(URL_)).status).toBe('active')
    await turn(webhook.id, 'resume')
    expect((await app.subscribe(`${URL_}?again`)).status).toBe('active')
  })

  it('doesn’t go on with subscriptions that it had at the same origin before', async () => {
    const { app, turn, listed } = await scene()
    const webhook = await app.subscribe(URL_)
    const second = await app.subscribe(`${URL_}?second`)
    const off = await app.subscribe('https://HOOKS.example.com:443/off')
    await app.call('PATCH', `/webhooks/${off.id}`, { status: 'disabled' })
    const other = await app.subscribe('https://elsewhere.example.com/')
    await turn(webhook.id, 'pause')
    const states = async () =>
      Object.fromEntries((await listed()).map(({ id, status }: { id: string; status: string }) => [id, status]))
    const paused = { [webhook.id]: 'paused', [second.id]: 'paused', [off.id]: 'paused', [other.id]: 'active' }
    expect(await states()).toEqual(paused)
    for (const { id } of [second, off]) {
      expectRefusal(await app.call('POST', `/webhooks/${id}/enable`), 'enabling', 'conflict')
      expectRefusal(await app.call('DELETE', `/webhooks/${id}`), 'deleting', 'conflict')
    }
    await platform.drain()
    const told = (await app.feed('&types=webhook.disabled')).map(({ data }) => data.webhook_id)
    expect(told.sort()).toEqual([webhook.id, second.id, off.id].sort())
    await turn(second.id, 'resume')
    const resumed = { [webhook.id]: 'active', [second.id]: 'active', [off.id]: 'disabled', [other.id]: 'active' }
    expect(await states()).toEqual(resumed)
  })

  it('doesn’t get a subscription past the pause by making, moving and deleting some at the same moment', async () => {
    const { app, turn } = await scene()
    for (let round = 0; round < 5; round++) {
      const origin = `https://hooks-${round}.example.com`
      const webhook = await app.subscribe(`${origin}/in`)
      const [mover, spare] = [
        await app.subscribe(`https://a-${round}.example.com/`),
        await app.subscribe(`${origin}/x`),
      ]
      await Promise.all([
        app.call('POST', '/webhooks', { url: `${origin}/new`, events: ['*'] }),
        app.call('DELETE', `/webhooks/${spare.id}`),
        turn(webhook.id, 'pause'),
        app.call('PATCH', `/webhooks/${mover.id}`, { url: `${origin}/moved` }),
        app.call('POST', '/webhooks', { url: `${origin}/newer`, events: ['*'] }),
      ])
      const { body } = await app.call('GET', '/webhooks?limit=100')
      const there = body.items.filter(({ url }: { url: string }) => url.startsWith(origin))
      expect(there.filter(({ status }: { status: string }) => status === 'active')).toEqual([])
      for (const { id, url } of body.items) {
        if (url.startsWith(origin)) await turn(id, 'resume')
        await app.call('DELETE', `/webhooks/${id}`)
      }
    }
  })

  it('doesn’t go on after it was uninstalled and installed again, until an admin resumes it', async () => {
    const { app, as, turn, listed } = await scene()
    const { slug, requested_scopes: scopes } = app.app
    await allowInstalling(platform.deps, app)
    const webhook = await app.subscribe(URL_, ['run.failed'])
    await turn(webhook.id, 'pause')
    expect((await as('DELETE', `/installations/${app.installation.id}`)).status).toBe(204)
    await platform.drain()
    const { id } = await succeeded(as('POST', '/installations', { slug, scopes }))
    const again = subscribing(platform, await installedAgain(platform.deps, app, id))
    const other = await again.subscribe('https://elsewhere.example.com/')
    await refusedAt(again, `${URL_}?again`, other)
    expect(await listed()).toMatchObject([
      { id: other.id, status: 'active' },
      {
        id: webhook.id,
        installation_id: id,
        origin: 'https://hooks.example.com',
        status: 'paused',
        events: ['run.failed'],
      },
    ])
    expect(await turn(webhook.id, 'resume', again)).toMatchObject({ id: webhook.id, status: 'disabled' })
    expect(await listed()).toMatchObject([{ id: other.id }])
    expect((await again.subscribe(`${URL_}?again`)).status).toBe('active')
  })
})
