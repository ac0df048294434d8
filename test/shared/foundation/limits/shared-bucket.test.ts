import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BucketEntity } from '#shared/foundation/limits/entity.ts'
import { returnTogether, takeTogether } from '#shared/foundation/limits/shared-bucket.ts'
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

  it('go on from what the version before stored', async () => {
    const deps = { table, clock: new TestClock() }
    const tat = deps.clock.now() + 1_000
    await table.transact([BucketEntity.replace({ name: 'before', tat, expires_at: tat })])
    expect(await take(deps, 'before', 'a')).toMatchObject({ part: { remaining: 19 }, all: { remaining: 49 } })
  })
})
