import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MemoryTable } from '#bench/oauth/memory-table.ts'
import { GrantEntity } from '#shared/entities/installations.ts'
import { AuthorizationCodeEntity, RefreshTokenEntity } from '#shared/entities/oauth.ts'
import { BucketEntity } from '#shared/entities/platform.ts'
import { ConditionFailed, type Write } from '#shared/table/entity.ts'
import { either, exists, lt, lte, missing, oneOf } from '#shared/table/expressions.ts'
import { Table } from '#shared/table/table.ts'
import { startStore, type TestStore } from '#test/support/store.ts'

let store: TestStore
let real: Table
const memory = new MemoryTable()
const inMemory = new Table({ client: memory.client, tableName: 'memory', shards: 2 })
beforeAll(async () => {
  store = await startStore()
  const client = DynamoDBDocumentClient.from(store.client, { marshallOptions: { removeUndefinedValues: true } })
  real = new Table({ client, tableName: await store.createTable(), shards: 2 })
})
afterAll(() => store.stop())

const names = { app_id: 'app_1', workspace_id: 'ws_1', installation_id: 'ins_1', grant_id: 'grt_1' }
const token = (token_hash: string) => ({ ...names, token_hash, created_at: 1, expires_at: 90 })
const code = { ...names, code_hash: 'c', redirect_uri: 'r', code_challenge: 'x', expires_at: 5 }
const grant = {
  ...names,
  id: 'grt_1',
  scopes: ['a', 'b'],
  status: 'active' as const,
  kind: 'oauth' as const,
  created_at: 1,
}
const bucket = (tat: number, where: object): Write =>
  BucketEntity.replace({ name: 'b', tat, expires_at: 9 }, { where, otherwise: (current) => current })

/** What a step comes to, as a caller of the table sees it. */
const outcome = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    return { answered: (await work()) ?? null }
  } catch (error) {
    return error instanceof ConditionFailed ? { failed: error.index, current: error.current } : { threw: error }
  }
}

const refs = [
  { entity: RefreshTokenEntity, key: RefreshTokenEntity.key({ token_hash: 't1' }) },
  { entity: RefreshTokenEntity, key: RefreshTokenEntity.key({ token_hash: 'nobody' }) },
  { entity: GrantEntity, key: GrantEntity.key({ installation_id: 'ins_1', id: 'grt_1' }) },
] as const

/** In this order, on what the steps before have left. */
const STEPS: [name: string, step: (table: Table) => Promise<unknown>][] = [
  ['reads nothing', (table) => table.get(RefreshTokenEntity, { token_hash: 't1' })],
  ['creates together', (table) => table.transact([RefreshTokenEntity.create(token('t1')), GrantEntity.create(grant)])],
  ['creates alone', (table) => table.transact([AuthorizationCodeEntity.create(code)])],
  ['refuses to create again', (table) => table.transact([AuthorizationCodeEntity.create(code)])],
  ['reads one', (table) => table.get(AuthorizationCodeEntity, { code_hash: 'c' })],
  ['reads a batch, one of which is missing', (table) => table.getAll(refs)],
  [
    'rotates: sets, creates, all or nothing',
    (table) =>
      table.transact([
        RefreshTokenEntity.update({ token_hash: 't1' }, { set: { rotated_at: 7 } }, { where: { rotated_at: missing } }),
        GrantEntity.update(grant, { set: { last_used_at: 7 } }, { where: { status: 'active' } }),
        RefreshTokenEntity.create(token('t2')),
      ]),
  ],
  [
    'refuses the second rotation, with the item as it is',
    (table) =>
      table.transact([
        RefreshTokenEntity.create(token('t3')),
        RefreshTokenEntity.update({ token_hash: 't1' }, { set: { rotated_at: 8 } }, { where: { rotated_at: missing } }),
      ]),
  ],
  ['has written nothing of it', (table) => table.get(RefreshTokenEntity, { token_hash: 't3' })],
  [
    'checks only, and refuses',
    (table) =>
      table.transact([GrantEntity.check(grant, { where: { status: 'revoked' } }), BucketEntity.delete({ name: 'b' })]),
  ],
  ['takes from a bucket that is missing', (table) => table.transact([bucket(100, { tat: either(missing, lte(50)) })])],
  ['takes from one at its bound', (table) => table.transact([bucket(200, { tat: either(missing, lte(100)) })])],
  ['is refused by a fuller one', (table) => table.transact([bucket(300, { tat: either(missing, lte(100)) })])],
  ['compares strictly', (table) => table.transact([bucket(300, { tat: lt(200) })])],
  [
    'adds, and answers with what is new',
    (table) => table.change(BucketEntity.update({ name: 'b' }, { add: { tat: 20 } }, { where: { tat: lte(200) } })),
  ],
  [
    'answers with what was',
    (table) => table.change(BucketEntity.update({ name: 'b' }, { set: { tat: 1 } }, { where: { tat: exists } }), 'old'),
  ],
  [
    'adds to a field that is missing',
    (table) => table.change(GrantEntity.update(grant, { add: { due_at: 5 }, append: { scopes: ['c'] } })),
  ],
  [
    'removes a field',
    (table) =>
      table.change(GrantEntity.update(grant, { set: { last_used_at: undefined, status: 'revoked' } }, { where: {} })),
  ],
  [
    'looks a value up in a list, and misses',
    (table) => table.transact([GrantEntity.delete(grant, { where: { status: oneOf('active', 'none') } })]),
  ],
  [
    'changes nothing that is not there',
    (table) => table.change(RefreshTokenEntity.update({ token_hash: 'nobody' }, { set: { rotated_at: 1 } })),
  ],
  [
    'makes an item from its changes',
    (table) => table.change(BucketEntity.upsert({ name: 'new' }, { set: { tat: 3 }, add: { expires_at: 4 } })),
  ],
  ['deletes, and answers with what was', (table) => table.change(AuthorizationCodeEntity.delete({ code_hash: 'c' }))],
  ['finds it gone', (table) => table.get(AuthorizationCodeEntity, { code_hash: 'c' })],
  [
    'deletes where it is as expected',
    (table) => table.transact([GrantEntity.delete(grant, { where: { status: oneOf('active', 'revoked') } })]),
  ],
  ['ends with the same items', (table) => table.getAll(refs)],
]

it.each(STEPS)('the table in memory does what a real store does: it %s', async (_, step) => {
  expect(await outcome(() => step(inMemory))).toStrictEqual(await outcome(() => step(real)))
})

it('counts calls and the records they touch', async () => {
  const before = { ...memory.use }
  await inMemory.getAll(refs)
  await inMemory.transact([BucketEntity.replace({ name: 'x', tat: 1, expires_at: 1 })])
  const { calls, reads, writes } = memory.use
  expect([calls - before.calls, reads - before.reads, writes - before.writes]).toEqual([2, 3, 1])
})

it('says so when it is asked for what it does not have', async () => {
  await expect(inMemory.query(GrantEntity, { installation_id: 'ins_1' }, { limit: 1 })).rejects.toThrow('QueryCommand')
})
