import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { returnToBucket, returnTogether, takeFromBucket, takeTogether } from '#shared/foundation/limits/bucket.ts'
import { BucketEntity } from '#shared/foundation/limits/entity.ts'
import { Table } from '#shared/table/table.ts'
import { TestClock } from '#testkit/clock.ts'
import { startStore, type TestStore } from '#testkit/store.ts'

let store: TestStore

let table: Table

beforeAll(async () => {
  store = await startStore()
  table = new Table({
    client: DynamoDBDocumentClient.from(store.client, { marshallOptions: { removeUndefinedValues: true } }),
    tableName: await store.createTable(),
    shards: 1,
  })
})

afterAll(() => store.stop())

const rate = { perSecond: 10, burst: 20 }

describe('a bucket of 20, refilled at 10 a second', () => {
  it('allows exactly its burst when full, however the requests arrive', async () => {
    const deps = { table, clock: new TestClock() }
    const taken = await Promise.all(Array.from({ length: 60 }, () => takeFromBucket(deps, 'single-parallel', rate)))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(20)
    expect(taken.filter(({ allowed }) => !allowed).every(({ retryAfter }) => retryAfter === 1)).toBe(true)
  })

  it('counts down the remaining requests, and refills with time', async () => {
    const deps = { table, clock: new TestClock() }
    expect((await takeFromBucket(deps, 'single-serial', rate)).remaining).toBe(19)
    expect((await takeFromBucket(deps, 'single-serial', rate)).remaining).toBe(18)
    for (let i = 0; i < 18; i++) await takeFromBucket(deps, 'single-serial', rate)
    expect((await takeFromBucket(deps, 'single-serial', rate)).allowed).toBe(false)
    deps.clock.advance(100)
    expect((await takeFromBucket(deps, 'single-serial', rate)).allowed).toBe(true)
    expect((await takeFromBucket(deps, 'single-serial', rate)).allowed).toBe(false)
    deps.clock.advance(60_000)
    expect((await takeFromBucket(deps, 'single-serial', rate)).remaining).toBe(19)
  })

  it('refuses no longer than it can be empty: a bucket filled by a wrong clock is reset', async () => {
    const [right, ahead] = [new TestClock(), new TestClock()]
    ahead.advance(30_000)
    await takeFromBucket({ table, clock: ahead }, 'single-ahead', rate)
    expect((await takeFromBucket({ table, clock: right }, 'single-ahead', rate)).allowed).toBe(true)
    const more = await Promise.all(
      Array.from({ length: 30 }, () => takeFromBucket({ table, clock: right }, 'single-ahead', rate)),
    )
    expect(more.filter(({ allowed }) => allowed)).toHaveLength(19)
  })

  it('allows one more after one was returned', async () => {
    const deps = { table, clock: new TestClock() }
    for (let i = 0; i < 20; i++) await takeFromBucket(deps, 'single-back', rate)
    await returnToBucket(deps, 'single-back', rate)
    expect((await takeFromBucket(deps, 'single-back', rate)).allowed).toBe(true)
    expect((await takeFromBucket(deps, 'single-back', rate)).allowed).toBe(false)
  })

  it('is full, and accepts a returned request, after it expired in the middle of a request', async () => {
    const clock = new TestClock()
    await takeFromBucket({ table, clock }, 'expired', rate)
    const expire = () => table.transact([BucketEntity.delete({ name: 'expired' })])
    let changes = 0
    const vanishing = {
      change: async (...change: Parameters<Table['change']>) => {
        if (++changes === 2) await expire()
        return table.change(...change)
      },
    } as unknown as Table
    expect(await takeFromBucket({ table: vanishing, clock }, 'expired', rate)).toMatchObject({
      allowed: true,
      remaining: 19,
    })
    await expire()
    await returnToBucket({ table, clock } as never, 'expired', rate)
    expect((await takeFromBucket({ table, clock }, 'expired', rate)).remaining).toBe(19)
  })

  it('allows a request whose first read was slow while others continued', async () => {
    const clock = new TestClock()
    const [begun, later] = [clock.now(), clock.now() + 5_000]
    clock.advance(5_000)
    await takeFromBucket({ table, clock }, 'late', rate)
    const looks = [begun, later]
    expect(await takeFromBucket({ table, clock: { now: () => looks.shift() ?? later } }, 'late', rate)).toMatchObject({
      allowed: true,
      remaining: 18,
    })
  })

  it('says how long to wait at a slow rate', async () => {
    const deps = { table, clock: new TestClock() }
    const slow = { perSecond: 0.1, burst: 6 }
    for (let i = 0; i < 6; i++) expect((await takeFromBucket(deps, 'slow', slow)).allowed).toBe(true)
    expect(await takeFromBucket(deps, 'slow', slow)).toMatchObject({ allowed: false, retryAfter: 10 })
  })
})

const whole = { field: 'tat', rate: { perSecond: 50, burst: 100 } }
const partOf = (id: string) => ({ field: id, rate: { perSecond: 10, burst: 20 } })

const take = async (deps: Parameters<typeof takeTogether>[0], app: string, id: string) => {
  const [part, all] = await takeTogether(deps, app, [partOf(id), whole])
  return { part, all, isTaken: part?.allowed === true && all?.allowed === true }
}

const stored = (app: string) => table.get(BucketEntity, { name: app })

describe('buckets of 20 in an item whose own bucket is of 100', () => {
  it('allow exactly their burst each, however the requests arrive', async () => {
    const deps = { table, clock: new TestClock() }
    const ids = ['a', 'b', 'c']
    const all = await Promise.all(Array.from({ length: 120 }, (_, i) => take(deps, 'parallel', ids[i % 3] as string)))
    for (const [k, id] of ids.entries())
      expect([id, all.filter(({ isTaken }, i) => i % 3 === k && isTaken).length]).toEqual([id, 20])
  })

  it('allow exactly the burst of the whole together', async () => {
    const deps = { table, clock: new TestClock() }
    const all = await Promise.all(Array.from({ length: 150 }, (_, i) => take(deps, 'whole', `ins_${i % 10}`)))
    expect(all.filter(({ isTaken }) => isTaken)).toHaveLength(100)
    expect(all.filter(({ part }) => part?.allowed === false)).toHaveLength(0)
    deps.clock.advance(20)
    expect((await take(deps, 'whole', 'ins_0')).isTaken).toBe(true)
    expect((await take(deps, 'whole', 'ins_0')).all).toMatchObject({ allowed: false, retryAfter: 1 })
  })

  it('count down, and refill with time', async () => {
    const deps = { table, clock: new TestClock() }
    expect(await take(deps, 'serial', 'a')).toMatchObject({ part: { remaining: 19 }, all: { remaining: 99 } })
    expect(await take(deps, 'serial', 'a')).toMatchObject({ part: { remaining: 18 }, all: { remaining: 98 } })
    expect(await take(deps, 'serial', 'b')).toMatchObject({ part: { remaining: 19 }, all: { remaining: 97 } })
    deps.clock.advance(60_000)
    expect(await take(deps, 'serial', 'a')).toMatchObject({ part: { remaining: 19 }, all: { remaining: 99 } })
  })

  it('take nothing from the whole for a request that a part refuses', async () => {
    const deps = { table, clock: new TestClock() }
    for (let i = 0; i < 20; i++) await take(deps, 'refused', 'a')
    for (let i = 0; i < 5; i++) expect((await take(deps, 'refused', 'a')).part?.allowed).toBe(false)
    expect((await take(deps, 'refused', 'b')).all).toMatchObject({ allowed: true, remaining: 79 })
  })

  it('allow one more after one was returned', async () => {
    const deps = { table, clock: new TestClock() }
    for (let i = 0; i < 20; i++) await take(deps, 'back', 'a')
    await returnTogether(deps, 'back', [partOf('a'), whole])
    expect((await take(deps, 'back', 'a')).isTaken).toBe(true)
    expect((await take(deps, 'back', 'a')).isTaken).toBe(false)
    expect((await take(deps, 'back', 'b')).all?.remaining).toBe(79)
    await returnTogether(deps, 'never-used', [partOf('a'), whole])
    expect((await take(deps, 'never-used', 'a')).part?.remaining).toBe(19)
  })

  it('refuse no longer than they can be empty: those filled by a wrong clock are reset', async () => {
    const [right, ahead] = [new TestClock(), new TestClock()]
    ahead.advance(30_000)
    await take({ table, clock: ahead }, 'ahead', 'a')
    const deps = { table, clock: right }
    const all = await Promise.all(Array.from({ length: 30 }, () => take(deps, 'ahead', 'a')))
    expect(all.filter(({ isTaken }) => isTaken)).toHaveLength(20)
  })

  it('stay few: those that are full again are removed, and no others', async () => {
    const deps = { table, clock: new TestClock() }
    for (let i = 0; i < 60; i++) {
      for (let n = 0; n < (i === 59 ? 3 : 1); n++) await take(deps, 'many', `ins_${i}`)
      deps.clock.advance(100)
    }
    expect(Object.keys((await stored('many')) ?? {}).length).toBeLessThan(20)
    expect((await take(deps, 'many', 'ins_59')).part?.remaining).toBe(17)
  })

  it('forget a part a day after its last request', async () => {
    const deps = { table, clock: new TestClock() }
    await take(deps, 'old', 'gone')
    deps.clock.advance(25 * 3_600_000)
    await take(deps, 'old', 'a')
    expect(Object.keys((await stored('old')) ?? {})).not.toContain('gone')
  })
})
