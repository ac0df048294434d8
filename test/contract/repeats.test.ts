import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { type Endpoint, keepsAnswers } from '#shared/http/endpoint.ts'
import { contents, difference } from '#testkit/contents.ts'
import { type Answer, startPlatform, type TestPlatform } from '#testkit/platform.ts'
import { sampleCall } from '#testkit/sample-call.ts'
import { isSampled } from '#testkit/sampling.ts'
import { createStage, type Stage } from '#testkit/stage.ts'
import { startStore, type TestStore } from '#testkit/store.ts'

const posts = Object.values(requestFunctions)
  .flat()
  .filter(keepsAnswers)
  .map((endpoint, n) => [`${endpoint.method} ${endpoint.path}`, endpoint, n] as const)

/** Longer than a request holds the lock on its key. */
const LOCK_OVER_MS = 181_000

let store: TestStore
let platform: TestPlatform
let stage: Stage
beforeAll(async () => {
  store = await startStore()
})
afterAll(() => store.stop())

describe.each(posts)('%s', (_name, endpoint, n) => {
  // Each endpoint gets its own table, because tests compare all of its contents repeatedly.
  beforeAll(async () => {
    platform = await startPlatform({}, store.share())
    stage = await createStage(platform)
  })
  afterAll(async () => {
    await stage.close()
    await platform.stop()
  })

  it('returns the first answer byte for byte for the same Idempotency-Key, and does nothing more', async () => {
    const sample = await sampleCall(stage, endpoint)
    const key = { 'idempotency-key': randomUUID() }
    const untouched = await contents(platform)
    const first = await stage.call(endpoint, sample, key)
    expect(first.status, first.text.slice(0, 400)).toBe(endpoint.status)
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    await platform.drain()
    const before = await contents(platform)
    const requests = stage.hooks.requests.length

    const second = await stage.call(endpoint, sample, key)
    // The answer of a stranger's request without effect isn't stored: its repeat has no effect either.
    const kept = endpoint.caller !== 'none' || Object.keys(difference(untouched, before)).length > 0
    expect(second.headers['idempotency-replayed']).toBe(kept ? 'true' : undefined)
    expect(second.text).toBe(first.text)
    expect(second.status).toBe(first.status)
    for (const name of [...(kept ? ['x-request-id'] : []), 'content-type', 'cache-control']) {
      expect(second.headers[name], name).toBe(first.headers[name])
    }
    expect(platform.outbox).toEqual([])
    await platform.drain()
    expect(difference(before, await contents(platform))).toEqual({})
    expect(stage.hooks.requests.length).toBe(requests)
  })

  it.runIf(isSampled(n, 24))(
    'is completed by the retry with the same key after its handler dies after any write, without duplicates',
    async () => {
      const finished: (typeof one)[] = []
      let one = await attempt(endpoint, 1)
      for (let n = 1; one.died; one = await attempt(endpoint, ++n)) {
        const { committed, retried, repeated } = one
        expect(retried.status, `after write ${n}: ${retried.text.slice(0, 300)}`).toBe(endpoint.status)
        // The retry returns what the dead request committed.
        expect(retried.headers['idempotency-replayed']).toBe(committed ? 'true' : undefined)
        expect(repeated.text).toBe(retried.text)
        expect(n, 'number of writes of one request').toBeLessThan(12)
        finished.push(one)
      }
      // The last attempt had no death. Its records are the result that all others have to reach.
      expect(finished.length, 'no write to die after').toBeGreaterThan(1)
      for (const [i, { made }] of finished.entries())
        expect(withoutOwn(made), `after write ${i + 1}`).toEqual(withoutOwn(one.made))
    },
  )
})

/**
 * Records that change by themselves: the sweeper's mark, a mail that a dead worker didn't send and that waits for the sweeper, the next
 * attempt to fetch an app's logo, and the hour of a person's last activity.
 */
const OWN = /^((new|changed) (sweep-mark|outgoing-mail)|changed (logo-fetch|member))$/

const withoutOwn = (made: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(made).filter(([name]) => !OWN.test(name)))

/**
 * Sends a sample whose handler dies after its n-th write, if it gets that far. Repeats it once the lock has expired,
 * and once more.
 */
async function attempt(endpoint: Endpoint, n: number) {
  const sample = await sampleCall(stage, endpoint)
  const key = { 'idempotency-key': randomUUID() }
  const before = await contents(platform)
  const death = mortal(n)
  const first = await death.during(() => stage.call(endpoint, sample, key))
  const { died, committed } = death.restore()
  if (died) {
    // After its commit, a request doesn't fail: it leaves the rest to the sweeper.
    expect([500, ...(committed ? [endpoint.status] : [])]).toContain(first.status)
    platform.clock.advance(LOCK_OVER_MS)
  }
  const retried = died ? await stage.call(endpoint, sample, key) : first
  const repeated = await stage.call(endpoint, sample, key)
  await platform.drain()
  // A message that a dead request didn't send is left to the sweeper.
  if (died && endpoint.needs?.some((need) => need.startsWith('queue:'))) {
    await platform.sweep()
    await platform.drain()
  }
  return { died, committed, made: difference(before, await contents(platform)), retried, repeated }
}

/**
 * Kills the process of a request right after its n-th write, so that nothing after it happens. Workers that run at the
 * same time live on.
 */
function mortal(n: number) {
  const { table } = platform.deps
  const { transact, change } = table
  const request = new AsyncLocalStorage<true>()
  let writes = 0
  let died = false
  let committed = false
  const refuse = () => {
    if (died && request.getStore()) throw new Error('the process is dead')
  }
  table.transact = async (given) => {
    refuse()
    await transact.call(table, given)
    if (!request.getStore()) return
    writes++
    if (writes > n) return
    committed ||= given.some(({ entity, changes }) => entity.name === 'kept-answer' && changes?.set?.state === 'done')
    if (writes < n) return
    died = true
    throw new Error('the process died')
  }
  table.change = (async (...given: Parameters<typeof change>) => {
    refuse()
    return change.apply(table, given)
  }) as typeof change
  return {
    during: (send: () => Promise<Answer>): Promise<Answer> => {
      stage.asRequest = (one) => request.run(true, one)
      return send()
    },
    restore: () => {
      table.transact = transact
      table.change = change
      stage.asRequest = (one) => one()
      return { died, committed: died && committed }
    },
  }
}
