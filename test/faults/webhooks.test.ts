import { beforeAll, describe, expect, it } from 'vitest'
import { SubscriptionEntity } from '#shared/delivery/webhooks/entity.ts'
import { iso } from '#shared/kernel/clock.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { killing, type Moment } from '#testkit/killing.ts'
import { type Receiver, startReceiver } from '#testkit/receiver.ts'
import { deathsAt } from '#testkit/sampling.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'

let workers: ReturnType<typeof killing>
const platform = usingPlatform({ WEBHOOK_RETRY_DELAYS_SECONDS: '10,60' })
beforeAll(async () => {
  workers = killing(platform)
})

type Subscriber = Awaited<ReturnType<typeof subscriber>>

const SECOND = 1_000
const YEAR = 365 * 86_400_000

/** The moment of a worker's death, and whether its message is lost. */
interface Death {
  moment: Moment
  lose: boolean
}

/**
 * Lets time pass in steps of 5 seconds. A sweep runs every half minute, late within it, which is the worst moment. Once
 * nothing is left to do, the rest of the time passes at once.
 */
const live = async (seconds: number, { lose }: Death): Promise<void> => {
  await workers.run(lose)
  for (let passed = 5; passed <= seconds; passed += 5) {
    platform.clock.advance(5 * SECOND)
    await workers.run(lose)
    if (passed % 30 === 25) await workers.sweep()
    await workers.run(lose)
    if (await workers.isOver()) return platform.clock.advance((seconds - passed) * SECOND)
  }
}

interface Scene {
  /** Sets the scene up, without a death. */
  set(): Promise<Subscriber>
  act(): Promise<void>
  check(app: Subscriber, died: boolean): Promise<void>
}

/**
 * Plays a scene with a death at each call that its workers make, or at a sample of them, until none dies.
 * @returns the number of calls
 */
const dieEverywhere = async ({ moment }: Death, { set, act, check }: Scene): Promise<number> => {
  for (const n of deathsAt(200, 8)) {
    const app = await set()
    workers.arm(n, moment)
    let died = false
    try {
      await act()
      died = workers.disarm()
      await check(app, died)
      // Nothing will ever be due again.
      expect(await platform.deps.table.due(platform.clock.now() + YEAR, 100)).toEqual([])
      expect(platform.messages).toEqual([])
    } catch (error) {
      throw new Error(`with a death ${moment} call ${n}: ${(error as Error).message}`, { cause: error })
    }
    if (!died) return workers.calls()
  }
  throw new Error('the scene doesn’t end')
}

const bodies = (receiver: Receiver) => receiver.requests.map(({ body }) => JSON.parse(String(body)))

describe.each<Death & { words: string }>([
  { moment: 'before', lose: false, words: 'before a call; its message is redelivered' },
  { moment: 'after', lose: false, words: 'after a call; its message is redelivered' },
  { moment: 'before', lose: true, words: 'before a call; its message is lost' },
  { moment: 'after', lose: true, words: 'after a call; its message is lost' },
])('a worker that dies $words', (death) => {
  it('loses no event and no delivery, stops nothing, and sends at most one extra request', async () => {
    await using good = await startReceiver()
    await using shaky = await startReceiver()
    const calls = await dieEverywhere(death, {
      async set() {
        for (const { requests } of [good, shaky]) requests.splice(0)
        shaky.next({ kind: 'answer', status: 500 })
        const app = await subscriber(platform)
        await app.subscribe(good.url)
        await app.subscribe(shaky.url)
        await app.emit('told', { x: 1 })
        return app
      },
      async act() {
        await live(120, death)
        expect(good.requests.length, 'requests within two minutes').toBeGreaterThanOrEqual(1)
        await live(180, death)
      },
      async check(app, died) {
        const feed = await app.feed()
        expect(feed.map(({ type }) => type)).toEqual(['custom.told'])
        for (const { id } of (await app.call('GET', '/webhooks')).body.items) {
          expect(await app.deliveries(id)).toMatchObject([{ status: 'succeeded', event_id: feed[0]?.id }])
        }
        for (const [receiver, attempts] of [
          [good, 1],
          [shaky, 2],
        ] as const) {
          expect(receiver.requests.length).toBeGreaterThanOrEqual(attempts)
          expect(receiver.requests.length).toBeLessThanOrEqual(attempts + (died ? 1 : 0))
          expect(new Set(bodies(receiver).map(({ id }) => id))).toEqual(new Set([feed[0]?.id]))
          expect(new Set(receiver.requests.map(({ headers }) => headers['x-svc-delivery'])).size).toBe(1)
        }
      },
    })
    expect(calls).toBeGreaterThan(8)
  })

  it('counts a failed delivery once: the fifth disables once, with one event and one audit entry', async () => {
    await using broken = await startReceiver()
    broken.answer({ kind: 'answer', status: 500 })
    let id = ''
    const calls = await dieEverywhere(death, {
      async set() {
        const app = await subscriber(platform)
        id = (await app.subscribe(broken.url, ['custom.*'])).id
        const key = { installation_id: app.installation.id, id }
        await platform.deps.table.transact([SubscriptionEntity.update(key, { set: { consecutive_failures: 4 } })])
        await app.emit('fails')
        return app
      },
      act: () => live(420, death),
      async check(app) {
        expect(await app.webhook(id)).toMatchObject({ status: 'disabled', consecutive_failures: 5 })
        expect(await app.deliveries(id)).toMatchObject([{ status: 'failed', attempt: 2 }])
        expect((await app.feed()).map(({ type }) => type)).toEqual(['custom.fails', 'webhook.disabled'])
        const audit = await platform.deps.table.query(AuditEntity, { scope: app.workspaceId }, { limit: 10 })
        expect(audit.items).toHaveLength(1)
      },
    })
    expect(calls).toBeGreaterThan(8)
  })

  it('recovers every skipped delivery, each once', async () => {
    await using receiver = await startReceiver()
    let id = ''
    const calls = await dieEverywhere(death, {
      async set() {
        receiver.requests.splice(0)
        const app = await subscriber(platform)
        id = (await app.subscribe(receiver.url)).id
        const key = { installation_id: app.installation.id, id }
        await platform.deps.table.transact([
          SubscriptionEntity.update(key, { set: { status: 'disabled', generation: 2 } }),
        ])
        const since = iso(platform.clock.now())
        for (let i = 0; i < 3; i++) await app.emit('missed', { i })
        await platform.drain()
        await app.call('POST', `/webhooks/${id}/enable`)
        await app.call('POST', `/webhooks/${id}/recover`, { since })
        return app
      },
      act: () => live(240, death),
      async check(app, died) {
        const deliveries = await app.deliveries(id)
        expect(deliveries.map((one: { status: string }) => one.status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
        const got = bodies(receiver).map(({ data }) => data.i)
        expect(new Set(got)).toEqual(new Set([0, 1, 2]))
        // Only a death between the answer and its record makes a receiver get a delivery twice.
        expect(got.length).toBeLessThanOrEqual(died ? 4 : 3)
      },
    })
    expect(calls).toBeGreaterThan(6)
  })
})
