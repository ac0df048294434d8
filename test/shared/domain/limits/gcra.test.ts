import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { giveBack, take } from '#shared/domain/limits/gcra.ts'
import { BucketEntity } from '#shared/entities/platform.ts'
import { Table } from '#shared/table/table.ts'
import { TestClock } from '#test/support/clock.ts'
import { startStore, type TestStore } from '#test/support/store.ts'

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

describe('a bucket of 20 refilled by 10 a second', () => {
  it('lets exactly its burst through when it is full, however the requests come in', async () => {
    const deps = { table, clock: new TestClock() }
    const taken = await Promise.all(Array.from({ length: 60 }, () => take(deps, 'parallel', rate)))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(20)
    expect(taken.filter(({ allowed }) => !allowed).every(({ retryAfter }) => retryAfter === 1)).toBe(true)
  })

  it('counts down what remains, and fills up again with time', async () => {
    const deps = { table, clock: new TestClock() }
    expect((await take(deps, 'serial', rate)).remaining).toBe(19)
    expect((await take(deps, 'serial', rate)).remaining).toBe(18)
    for (let i = 0; i < 18; i++) await take(deps, 'serial', rate)
    expect((await take(deps, 'serial', rate)).allowed).toBe(false)
    deps.clock.advance(100)
    expect((await take(deps, 'serial', rate)).allowed).toBe(true)
    expect((await take(deps, 'serial', rate)).allowed).toBe(false)
    deps.clock.advance(60_000)
    expect((await take(deps, 'serial', rate)).remaining).toBe(19)
  })

  it('refuses nobody for longer than it can be empty: one that a wrong clock has filled starts anew', async () => {
    const [right, ahead] = [new TestClock(), new TestClock()]
    ahead.advance(30_000)
    await take({ table, clock: ahead }, 'ahead', rate)
    expect((await take({ table, clock: right }, 'ahead', rate)).allowed).toBe(true)
    const more = await Promise.all(Array.from({ length: 30 }, () => take({ table, clock: right }, 'ahead', rate)))
    expect(more.filter(({ allowed }) => allowed)).toHaveLength(19)
  })

  it('has one more after one was given back', async () => {
    const deps = { table, clock: new TestClock() }
    for (let i = 0; i < 20; i++) await take(deps, 'back', rate)
    await giveBack(deps, 'back', rate)
    expect((await take(deps, 'back', rate)).allowed).toBe(true)
    expect((await take(deps, 'back', rate)).allowed).toBe(false)
  })

  it('is full, and takes back what it gave, when it expired in the middle of a request', async () => {
    const clock = new TestClock()
    await take({ table, clock }, 'expired', rate)
    const gone = () => table.transact([BucketEntity.delete({ name: 'expired' })])
    const vanishing = {
      transact: (writes: Parameters<Table['transact']>[0]) => table.transact(writes),
      change: async (...change: Parameters<Table['change']>) => {
        await gone()
        return table.change(...change)
      },
    } as unknown as Table
    expect(await take({ table: vanishing, clock }, 'expired', rate)).toMatchObject({ allowed: true, remaining: 19 })
    await gone()
    await giveBack({ table, clock } as never, 'expired', rate)
    expect((await take({ table, clock }, 'expired', rate)).remaining).toBe(19)
  })

  it('lets a request through whose first look at it took long, while others went on', async () => {
    const clock = new TestClock()
    const [begun, later] = [clock.now(), clock.now() + 5_000]
    clock.advance(5_000)
    await take({ table, clock }, 'late', rate)
    const looks = [begun, later]
    expect(await take({ table, clock: { now: () => looks.shift() ?? later } }, 'late', rate)).toMatchObject({
      allowed: true,
      remaining: 18,
    })
  })

  it('says how long to wait for a slow rate', async () => {
    const deps = { table, clock: new TestClock() }
    const slow = { perSecond: 0.1, burst: 6 }
    for (let i = 0; i < 6; i++) expect((await take(deps, 'slow', slow)).allowed).toBe(true)
    expect(await take(deps, 'slow', slow)).toMatchObject({ allowed: false, retryAfter: 10 })
  })
})
