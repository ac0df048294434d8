import { beforeAll, describe, expect, it } from 'vitest'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { OVERDUE_GRACE } from '#shared/foundation/outbox/outbox.ts'
import { HOUR, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { type Dice, dice } from '#testkit/dice.ts'
import { faultyStore } from '#testkit/faulty-store.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'

let weather: ReturnType<typeof faultyStore>
const roll = dice(5)
const platform = usingPlatform({ WEBHOOK_RETRY_DELAYS_SECONDS: '10,60,60' })
const agent = usingReceiver({ kind: 'answer', status: 200, body: JSON.stringify({ status: 'succeeded', output: {} }) })
beforeAll(async () => {
  weather = faultyStore(platform, roll.fork())
})

const RUNS = 3
const EVENTS = 8
const YEAR = 365 * 24 * HOUR
const FINAL = ['succeeded', 'failed']

/**
 * Returns the longest time in ms that anything is overdue beyond its grace period. Time that a clock jump skipped
 * doesn't count.
 */
const overdue = async (jumpedTo: number): Promise<number> => {
  const [first] = await platform.deps.table.due(platform.clock.now(), 1)
  return first ? platform.clock.now() - Math.max(first.dueAt, jumpedTo) : 0
}

/** Handles what is due, in any order and some of it twice. Failed messages return after their visibility timeout. */
const work = async (chance: Dice): Promise<void> => {
  // The sweeper finds events that are lost here.
  const events = platform.outbox.splice(0).filter(() => !chance.chance(0.3))
  if (events.length > 0) await platform.deps.bus.put(events)
  const now = platform.clock.now()
  const due = platform.messages.filter(({ dueAt }) => dueAt <= now)
  for (const message of due.toSorted(() => chance.share() - 0.5)) {
    platform.messages.splice(platform.messages.indexOf(message), 1)
    const times = chance.chance(0.2) ? 2 : 1
    const done = await Promise.all(Array.from({ length: times }, () => platform.deliver(message)))
    if (!done.every(Boolean)) platform.messages.push({ ...message, dueAt: now + 2 * MINUTE })
  }
}

/**
 * Lets time pass with the store at its worst and a sweep every half minute. @returns the longest time that anything was
 * overdue
 */
const live = async (chance: Dice, during: number, jumpedTo: number, bad: boolean): Promise<number> => {
  let most = 0
  const step = (bad ? 5 : 15) * SECOND
  for (let passed = step; passed <= during; passed += step) {
    platform.clock.advance(step)
    weather.is = bad ? 'bad' : 'good'
    await work(chance)
    // The promise of two minutes allows for one lost sweep at a time.
    if (bad && passed % MINUTE === 0) weather.is = 'late'
    if (passed % (MINUTE / 2) === 0) await platform.sweep().catch(() => undefined)
    weather.is = 'good'
    most = Math.max(most, await overdue(jumpedTo))
  }
  return most
}

describe('with throttles, transaction conflicts, lost answers and a lagging index', () => {
  it.each([
    ['a correct clock', 0],
    ['a clock that jumps two hours forwards', 2 * HOUR],
    ['a clock that jumps five minutes backwards', -5 * MINUTE],
  ])(
    'and %s: every run ends, every delivery is made, every event is in the feed once, nothing is overdue',
    async (_what, jump) => {
      const chance = roll.fork()
      await using hooks = await startReceiver()
      hooks.answer(() => ({ kind: 'answer', status: chance.chance(0.3) ? 503 : 200 }))
      agent.requests.length = 0
      const app = await subscriber(platform, { endpoint: agent.url })
      const webhook = await app.subscribe(hooks.url, ['custom.*'])
      const runs: string[] = []
      for (let i = 0; i < RUNS; i++) runs.push((await app.call('POST', '/runs', {})).body.id)
      const emitted: string[] = []
      for (let i = 0; i < EVENTS; i++) emitted.push(await app.emit(`n${i}`))

      const before = await live(chance, 30 * SECOND, 0, true)
      platform.clock.advance(jump)
      const jumpedTo = jump > 0 ? platform.clock.now() : 0
      const after = await live(chance, 5 * MINUTE, jumpedTo, true)
      expect(Math.max(before, after)).toBeLessThanOrEqual(2 * MINUTE - OVERDUE_GRACE)
      // The sweeper retries records that failed after five minutes. Leases from before the clock went back last that
      // much longer.
      await live(chance, 15 * MINUTE, jumpedTo, false)

      for (const id of runs) {
        const { body: run } = await app.call('GET', `/runs/${id}`)
        expect(FINAL).toContain(run.status)
        expect(agent.requests.filter(({ body }) => JSON.parse(String(body)).run.id === id).length).toBeLessThanOrEqual(
          1,
        )
      }
      const key = { owner: app.installation.id, counter: 'active_runs' }
      expect((await platform.deps.table.get(CounterEntity, key))?.n).toBe(0)
      const feed = await app.feed()
      expect(
        feed
          .map(({ id }) => id)
          .filter((id) => emitted.includes(id))
          .sort(),
      ).toEqual(emitted.toSorted())
      expect(new Set(feed.map(({ id }) => id)).size).toBe(feed.length)
      const deliveries = await app.deliveries(webhook.id)
      expect(deliveries.map(({ event_id }: { event_id: string }) => event_id).sort()).toEqual(emitted.toSorted())
      for (const { status } of deliveries) expect(['succeeded', 'failed']).toContain(status)
      const got = new Set(hooks.requests.map(({ headers }) => headers['webhook-id']))
      expect([...got].sort()).toEqual(emitted.toSorted())
      expect(await platform.deps.table.due(platform.clock.now() + YEAR, 100)).toEqual([])
      expect(platform.messages).toEqual([])
    },
    120_000,
  )

  it('each of these faults occurred', () => {
    for (const [what, times] of Object.entries(weather.counts)) expect(times, what).toBeGreaterThan(0)
  })
})
