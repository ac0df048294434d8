import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { type Answer, startPlatform, type TestPlatform } from '#test/support/platform.ts'
import { contents, difference } from './contents.ts'
import { createStage, type Stage } from './stage.ts'

const posts = Object.values(requestFunctions)
  .flat()
  .filter(({ method }) => method === 'POST')
  .map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const)

/** Longer than any request has its key to itself. */
const LOCK_OVER_MS = 181_000

let platform: TestPlatform
let stage: Stage

describe.each(posts)('%s', (_name, endpoint) => {
  // A table of its own for each endpoint: all of it is compared, again and again.
  beforeAll(async () => {
    platform = await startPlatform()
    stage = await createStage(platform)
  })
  afterAll(async () => {
    await stage.close()
    await platform.stop()
  })

  it('gives the same Idempotency-Key the first answer, byte for byte, and does nothing more', async () => {
    const sample = await stage.sample(endpoint)
    const key = { 'idempotency-key': randomUUID() }
    const first = await stage.call(endpoint, sample, key)
    expect(first.status, first.text.slice(0, 400)).toBe(endpoint.status)
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    await platform.drain()
    const before = await contents(platform)
    const requests = stage.hooks.requests.length

    const second = await stage.call(endpoint, sample, key)
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(second.text).toBe(first.text)
    expect(second.status).toBe(first.status)
    for (const name of ['x-request-id', 'content-type', 'cache-control']) {
      expect(second.headers[name], name).toBe(first.headers[name])
    }
    expect(platform.outbox).toEqual([])
    await platform.drain()
    expect(difference(before, await contents(platform))).toEqual({})
    expect(stage.hooks.requests.length).toBe(requests)
  })

  it('whose handler dies after any of its writes is finished by the retry with the same key, and nothing is there twice', async () => {
    const finished: (typeof one)[] = []
    let one = await attempt(endpoint, 1)
    for (let n = 1; one.died; one = await attempt(endpoint, ++n)) {
      const { committed, retried, repeated } = one
      expect(retried.status, `after write ${n}: ${retried.text.slice(0, 300)}`).toBe(endpoint.status)
      // What the dead request had committed is what the retry gets.
      expect(retried.headers['idempotency-replayed']).toBe(committed ? 'true' : undefined)
      expect(repeated.text).toBe(retried.text)
      expect(n, 'a request with so many writes').toBeLessThan(12)
      finished.push(one)
    }
    // The last one died nowhere: what it made is what each of the others has to come to.
    expect(finished.length, 'there is no write to die after').toBeGreaterThan(1)
    for (const [i, { made }] of finished.entries()) expect(made, `after write ${i + 1}`).toEqual(one.made)
  })
})

/** Sends a sample whose handler dies after its n-th write, if it makes so many; again once its lock is over, and once more. */
async function attempt(endpoint: Endpoint, n: number) {
  const sample = await stage.sample(endpoint)
  const key = { 'idempotency-key': randomUUID() }
  const before = await contents(platform)
  const death = mortal(n)
  const first = await death.during(() => stage.call(endpoint, sample, key))
  const { died, committed } = death.restore()
  if (died) {
    expect(first.status).toBe(500)
    platform.clock.advance(LOCK_OVER_MS)
  }
  const retried = died ? await stage.call(endpoint, sample, key) : first
  const repeated = await stage.call(endpoint, sample, key)
  await platform.drain()
  return { died, committed, made: difference(before, await contents(platform)), retried, repeated }
}

/**
 * Lets the process of a request die right after its n-th write: that write has happened, and nothing behind it will. The
 * workers, which run beside it, live on.
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
