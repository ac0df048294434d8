import { beforeEach, describe, expect, it } from 'vitest'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newApp, newDeveloper, publish, type TestDeveloper } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { using } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { expectRefusal } from './support.ts'

const platform = usingPlatform()
const victim = using(startReceiver, (receiver) => receiver.close())
beforeEach(() => platform.clock.advance(24 * 3_600_000))

const SCOPES = ['runs:write', 'tools:invoke', 'webhooks:manage', 'files:write', 'workspace:read']

/** Creates an app with a token for its developer's sandbox. */
const sandboxApp = async (developer: TestDeveloper, version = '1.0.0') => {
  const app = await newApp(developer, { requested_scopes: SCOPES })
  await succeeded(publish(developer, app, { version, runtime: { type: 'webhook', endpoint: `${victim.url}/agent` } }))
  const { body } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
  return { ...app, token: body.access_token as string }
}

const subscribe = (token: string, url: string) =>
  platform.call('POST', '/api/v1/webhooks', { token, body: { url, events: ['*'] } })

describe('a sandbox', () => {
  it('has one subscription per address, over all of its apps, and frees the address with the subscription', async () => {
    const developer = await newDeveloper(platform)
    const [first, second] = [await sandboxApp(developer), await sandboxApp(developer)]
    const url = `${victim.url}/hook`
    const { body: made } = await subscribe(first.token, url)
    for (const token of [first.token, second.token]) {
      for (const same of [url, `${url}?again`, `${url}#again`, url.replace('/hook', '/./%68ook/')]) {
        const refused = await subscribe(token, same)
        expectRefusal(refused, same, 'conflict')
        expect(refused.body.error.message).toContain(made.id)
      }
    }
    const raced = await Promise.all(Array.from({ length: 5 }, () => subscribe(second.token, `${victim.url}/raced`)))
    expect(raced.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    expect((await platform.call('DELETE', `/api/v1/webhooks/${made.id}`, { token: first.token })).status).toBe(204)
    expect((await subscribe(second.token, url)).status).toBe(201)
  })

  it('leaves customers their several subscriptions for one address', async () => {
    const { token } = await installed(platform.deps)
    for (let n = 0; n < 2; n++) expect((await subscribe(token, `${victim.url}/hook`)).status).toBe(201)
  })

  it('stores 250 MiB of files, and a customer’s workspace more', async () => {
    const developer = await newDeveloper(platform)
    const { token } = await sandboxApp(developer)
    const customer = await installed(platform.deps)
    const fill = async (owner: string) => {
      const counter = { owner, counter: 'file-bytes' }
      await platform.deps.table.transact([CounterEntity.replace({ ...counter, n: LIMITS.fileBytesPerSandbox - 3 })])
    }
    const save = (as: string, text: string) =>
      platform.call('POST', '/api/v1/files', {
        token: as,
        body: { name: 'a.txt', content_type: 'text/plain', content: text },
      })
    await fill(developer.workspaceId)
    await fill(customer.workspaceId)
    expect((await save(token, 'abcd')).body.error).toMatchObject({ code: 'forbidden' })
    expect((await save(token, 'abc')).status).toBe(201)
    expect((await save(customer.token, 'abcd')).status).toBe(201)
  })

  it('sends no more than its budget, whatever its apps and subscriptions ask for', async () => {
    const developer = await newDeveloper(platform)
    const app = await sandboxApp(developer)
    const { burst } = LIMITS.sandboxEgressRate
    const { body: webhook } = await subscribe(app.token, `${victim.url}/hook`)
    const before = victim.requests.length
    const tests = await everySecond(burst + 20, () =>
      platform.call('POST', `/api/v1/webhooks/${webhook.id}/test`, { token: app.token }),
    )
    const sent = victim.requests.length - before
    const seconds = burst + 20
    expect(sent).toBeLessThanOrEqual(burst + seconds * LIMITS.sandboxEgressRate.perSecond)
    expect(tests.every(({ status }) => status === 200)).toBe(true)
  })
})

describe('a stage without budgets for sandboxes', () => {
  it('sends whatever they ask for', async () => {
    platform.settings.sandboxBudgets = false
    try {
      const app = await sandboxApp(await newDeveloper(platform))
      const { body: webhook } = await subscribe(app.token, `${victim.url}/free`)
      const times = LIMITS.sandboxEgressRate.burst + 20
      const tests = await everySecond(times, () =>
        platform.call('POST', `/api/v1/webhooks/${webhook.id}/test`, { token: app.token }),
      )
      expect(tests.filter(({ body }) => body.delivered)).toHaveLength(times)
    } finally {
      platform.settings.sandboxBudgets = true
    }
  })
})

/** Makes calls a tenth of a second apart, which the rate of an installation allows. */
const everySecond = async <T>(times: number, call: () => Promise<T>): Promise<T[]> => {
  const made: T[] = []
  for (let n = 0; n < times; n++) {
    platform.clock.advance(100)
    made.push(await call())
  }
  return made
}

describe('many sandboxes', () => {
  it('together send one host no more than its budget, and none of it counts for customers', async () => {
    const { burst, perSecond } = LIMITS.sandboxHostRate
    const hooks = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const app = await sandboxApp(await newDeveloper(platform))
        return { token: app.token, id: (await subscribe(app.token, `${victim.url}/hook`)).body.id }
      }),
    )
    platform.clock.advance(60_000)
    const before = victim.requests.length
    const began = platform.clock.now()
    const outcomes: boolean[] = []
    for (let n = 0; n < 80; n++) {
      platform.clock.advance(100)
      for (const { token, id } of hooks) {
        const { body } = await platform.call('POST', `/api/v1/webhooks/${id}/test`, { token })
        outcomes.push(body.delivered)
      }
    }
    const seconds = (platform.clock.now() - began) / 1_000
    const sent = victim.requests.length - before
    expect(sent).toBeLessThanOrEqual(Math.ceil(burst + seconds * perSecond))
    expect(outcomes).toContain(false)
    const customer = await installed(platform.deps)
    const { body: own } = await subscribe(customer.token, `${victim.url}/hook`)
    const answer = await platform.call('POST', `/api/v1/webhooks/${own.id}/test`, { token: customer.token })
    expect(answer.body.delivered).toBe(true)
  })
})
