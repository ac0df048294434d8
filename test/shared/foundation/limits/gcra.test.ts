import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BucketEntity } from '#shared/foundation/limits/entity.ts'
import { returnToBucket, takeFromBucket } from '#shared/foundation/limits/gcra.ts'
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
    const taken = await Promise.all(Array.from({ length: 60 }, () => takeFromBucket(deps, 'parallel', rate)))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(20)
    expect(taken.filter(({ allowed }) => !allowed).every(({ retryAfter }) => retryAfter === 1)).toBe(true)
  })

  it('counts down the remaining requests, and refills with time', async () => {
    const deps = { table, clock: new TestClock() }
    expect((await takeFromBucket(deps, 'serial', rate)).remaining).toBe(19)
    expect((await takeFromBucket(deps, 'serial', rate)).remaining).toBe(18)
    for (let i = 0; i < 18; i++) await takeFromBucket(deps, 'serial', rate)
    expect((await takeFromBucket(deps, 'serial', rate)).allowed).toBe(false)
    deps.clock.advance(100)
    expect((await takeFromBucket(deps, 'serial', rate)).allowed).toBe(true)
    expect((await takeFromBucket(deps, 'serial', rate)).allowed).toBe(false)
    deps.clock.advance(60_000)
    expect((await takeFromBucket(deps, 'serial', rate)).remaining).toBe(19)
  })

  it('refuses no longer than it can be empty: a bucket filled by a wrong clock is reset', async () => {
    const [right, ahead] = [new TestClock(), new TestClock()]
    ahead.advance(30_000)
    await takeFromBucket({ table, clock: ahead }, 'ahead', rate)
    expect((await takeFromBucket({ table, clock: right }, 'ahead', rate)).allowed).toBe(true)
    const more = await Promise.all(
      Array.from({ length: 30 }, () => takeFromBucket({ table, clock: right }, 'ahead', rate)),
    )
    expect(more.filter(({ allowed }) => allowed)).toHaveLength(19)
  })

  it('allows one more after one was returned', async () => {
    const deps = { table, clock: new TestClock() }
    for (let i = 0; i < 20; i++) await takeFromBucket(deps, 'back', rate)
    await returnToBucket(deps, 'back', rate)
    expect((await takeFromBucket(deps, 'back', rate)).allowed).toBe(true)
    expect((await takeFromBucket(deps, 'back', rate)).allowed).toBe(false)
  })

  it('is full, and accepts a returned request, after it expired in the middle of a request', async () => {
    const clock = new TestClock()
    await takeFromBucket({ table, clock }, 'expired', rate)
    const expire = () => table.transact([BucketEntity.delete({ name: 'expired' })])
    const vanishing = {
      transact: (writes: Parameters<Table['transact']>[0]) => table.transact(writes),
      change: async (...change: Parameters<Table['change']>) => {
        await expire()
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
