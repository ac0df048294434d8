import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { BatchGetCommand, DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { platformCountWrite } from '#shared/foundation/counters/index.ts'
import { ConditionFailed, defineEntity } from '#shared/table/entity.ts'
import { either, lt, missing, oneOf } from '#shared/table/expressions.ts'
import { listDirectory } from '#shared/table/lists.ts'
import { Table } from '#shared/table/table.ts'
import { startStore, type TestStore } from '#testkit/store.ts'

const schema = () =>
  z.object({
    owner: z.string(),
    id: z.string(),
    n: z.number(),
    tags: z.array(z.string()).optional(),
    due_at: z.number().optional(),
  })
type Thing = z.infer<ReturnType<typeof schema>>
const ThingEntity = defineEntity({
  name: 'thing',
  schema,
  pk: 'OWNER#{owner}',
  sk: 'THING#{id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
  directory: ({ id }) => ({ list: 'things', sort: id }),
  list: ({ owner, id, n }) => ({ owner: `${owner}#${n % 2}`, sort: id }),
})

let store: TestStore
let table: Table
let client: DynamoDBDocumentClient
let tableName: string

beforeAll(async () => {
  store = await startStore()
  client = DynamoDBDocumentClient.from(store.client, { marshallOptions: { removeUndefinedValues: true } })
  tableName = await store.createTable()
  table = new Table({ client, tableName, shards: 3, checkWrites: true })
})
afterAll(() => store.stop())

const things = (owner: string, count: number): Thing[] =>
  Array.from({ length: count }, (_, n) => ({ owner, id: `t${String(n).padStart(3, '0')}`, n }))

it('reads of what never changes cost half, and find what a replica lacks', async () => {
  const [old, fresh] = things('replica', 2) as [Thing, Thing]
  await table.transact([ThingEntity.create(old), ThingEntity.create(fresh)])
  const consistent: (boolean | undefined)[] = []
  type Reading = { ConsistentRead?: boolean }
  const send = async ({ input }: { input: Reading & { RequestItems?: Record<string, Reading> } }) => {
    const [isConsistent] = Object.values(input.RequestItems ?? { only: input }).map(
      ({ ConsistentRead }) => ConsistentRead,
    )
    consistent.push(isConsistent)
    const seen = (item: Thing | undefined) => (isConsistent || item?.id !== fresh.id ? item : undefined)
    if (!input.RequestItems) {
      const { Item } = (await client.send(new GetCommand(input as never))) as { Item?: Thing }
      return { Item: seen(Item) }
    }
    const result = (await client.send(new BatchGetCommand(input as never))) as unknown as {
      Responses: Record<string, Thing[]>
    }
    const [[name, items] = ['', []]] = Object.entries(result.Responses)
    return { ...result, Responses: { [name]: items.filter(seen) } }
  }
  const lagging = new Table({ client: { send } as never, tableName, shards: 3 })
  const gone = { owner: 'replica', id: 'gone' }
  const refs = [gone, fresh, old].map((thing) => ThingEntity.ref(thing))
  expect(await lagging.getAllUnchanging(refs)).toEqual([undefined, fresh, old])
  expect(consistent).toEqual([false, true])
  expect(await lagging.getAllUnchanging([ThingEntity.ref(old)])).toEqual([old])
  expect(consistent).toEqual([false, true, false])
  const isLast = ({ n }: Thing) => n !== old.n
  expect(await lagging.getAllUnchanging([ThingEntity.ref(old)], isLast)).toEqual([old])
  expect(consistent).toEqual([false, true, false, false, true])
})

describe('reads of the same turn', () => {
  const counting = () => {
    const keys: number[] = []
    const send = (command: { input: { RequestItems?: Record<string, { Keys: object[] }> } }) => {
      keys.push(Object.values(command.input.RequestItems ?? {})[0]?.Keys.length ?? 1)
      return client.send(command as never)
    }
    return { keys, table: new Table({ client: { send } as never, tableName, shards: 3 }) }
  }

  it('go out together, each item once', async () => {
    const [one, two] = things('together', 2) as [Thing, Thing]
    await table.transact([ThingEntity.create(one), ThingEntity.create(two)])
    const counted = counting()
    const later = async () => {
      await Promise.resolve()
      return counted.table.get(ThingEntity, two)
    }
    const gone = { owner: 'together', id: 'gone' }
    const read = await Promise.all([
      counted.table.get(ThingEntity, one),
      counted.table.getAll([ThingEntity.ref(two), ThingEntity.ref(gone), ThingEntity.ref(one)]),
      later(),
    ])
    expect(read).toEqual([one, [two, undefined, one], two])
    expect(counted.keys).toEqual([3])
    expect(await counted.table.get(ThingEntity, gone)).toBeUndefined()
    expect(counted.keys).toEqual([3, 1])
  })

  it('see what was written before they began', async () => {
    const [thing] = things('after', 1) as [Thing]
    await table.transact([ThingEntity.create(thing)])
    const early = table.get(ThingEntity, thing)
    await early
    await table.transact([ThingEntity.update(thing, { set: { n: 7 } })])
    expect((await table.get(ThingEntity, thing))?.n).toBe(7)
  })

  it('fit into calls of 100 items', async () => {
    const counted = counting()
    const many = (owner: string, count: number) => things(owner, count).map((thing) => ThingEntity.ref(thing))
    const reads = [many('x', 60), many('y', 30), many('z', 30)].map((refs) => counted.table.getAll(refs))
    expect((await Promise.all(reads)).map((items) => items.length)).toEqual([60, 30, 30])
    expect(counted.keys).toEqual([90, 30])
  })

  it('fail together if the call fails, and the next ones are a call of their own', async () => {
    const [thing] = things('failing', 1) as [Thing]
    let isBroken = true
    const send = async (command: never) => {
      if (isBroken) throw new Error('no answer')
      return client.send(command)
    }
    const failing = new Table({ client: { send } as never, tableName, shards: 3 })
    const read = await Promise.allSettled([failing.get(ThingEntity, thing), failing.getAll([ThingEntity.ref(thing)])])
    expect(read.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isBroken = false
    expect(await failing.get(ThingEntity, thing)).toBeUndefined()
  })
})

describe('writes', () => {
  it('creating an existing record fails and returns the record', async () => {
    const thing = { owner: 'a', id: 'one', n: 1 }
    await table.transact([ThingEntity.create(thing)])
    const error = await table.transact([ThingEntity.create({ ...thing, n: 2 })]).catch((e) => e)
    expect(error).toBeInstanceOf(ConditionFailed)
    expect(error.current).toEqual(thing)
    expect(await table.get(ThingEntity, thing)).toEqual(thing)
  })

  it('a transaction with one failed condition writes nothing and throws that write’s own error', async () => {
    const thing = { owner: 'b', id: 'one', n: 5 }
    await table.transact([ThingEntity.create(thing)])
    class Mine extends Error {}
    const failing = table.transact([
      ThingEntity.create({ owner: 'b', id: 'two', n: 1 }),
      ThingEntity.update(
        thing,
        { add: { n: 1 } },
        { where: { n: lt(5) }, otherwise: (now) => new Mine(`n is ${now?.n}`) },
      ),
    ])
    await expect(failing).rejects.toEqual(new Mine('n is 5'))
    expect(await table.get(ThingEntity, { owner: 'b', id: 'two' })).toBeUndefined()
  })

  it('updating a missing record fails; upserting creates it', async () => {
    const at = { owner: 'c', id: 'one' }
    await expect(table.transact([ThingEntity.update(at, { add: { n: 1 } })])).rejects.toBeInstanceOf(ConditionFailed)
    await table.transact([
      ThingEntity.upsert(
        at,
        { set: at, add: { n: 2 }, append: { tags: ['x'] } },
        { where: { n: either(missing, lt(3)) } },
      ),
    ])
    await table.transact([
      ThingEntity.upsert(at, { add: { n: 2 }, append: { tags: ['y'] } }, { where: { n: either(missing, lt(3)) } }),
    ])
    expect(await table.get(ThingEntity, at)).toMatchObject({ n: 4, tags: ['x', 'y'] })
    await expect(
      table.transact([ThingEntity.upsert(at, { add: { n: 2 } }, { where: { n: either(missing, lt(3)) } })]),
    ).rejects.toBeInstanceOf(ConditionFailed)
  })

  it('a conflicting transaction is retried', async () => {
    let conflicts = 2
    const name = 'conflict'
    client.middlewareStack.add(
      (next) => async (args) => {
        if ('TransactItems' in (args.input as object) && conflicts-- > 0) {
          throw new TransactionCanceledException({
            message: 'cancelled',
            $metadata: {},
            CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }],
          })
        }
        return next(args)
      },
      { step: 'initialize', name },
    )
    await table.transact(things('d', 2).map((thing) => ThingEntity.create(thing)))
    client.middlewareStack.remove(name)
    expect((await table.query(ThingEntity, { owner: 'd' }, { limit: 10 })).items).toHaveLength(2)
  })

  it('a record that violates its schema is never written', async () => {
    await expect(table.transact([ThingEntity.create({ owner: 'e', id: 'x', n: 'no' } as never)])).rejects.toThrow()
  })

  it('a key can’t be built from an empty or missing field', () => {
    expect(() => ThingEntity.key({ owner: '', id: 'x' })).toThrow()
  })
})

describe('lists', () => {
  it('pages return every record once, newest first or oldest first, and say when they end', async () => {
    await table.transact(things('pages', 25).map((thing) => ThingEntity.create(thing)))
    for (const ascending of [false, true]) {
      const seen: string[] = []
      let after: string | undefined
      let pages = 0
      do {
        const page = await table.query(ThingEntity, { owner: 'pages' }, { limit: 10, after, ascending })
        seen.push(...page.items.map(({ id }) => id))
        after = page.next
        pages++
      } while (after)
      const expected = things('pages', 25).map(({ id }) => id)
      expect(seen).toEqual(ascending ? expected : expected.reverse())
      expect(pages).toBe(3)
    }
  })

  it('a page that ends exactly at the last record has no next', async () => {
    await table.transact(things('exact', 5).map((thing) => ThingEntity.create(thing)))
    expect((await table.query(ThingEntity, { owner: 'exact' }, { limit: 5 })).next).toBeUndefined()
  })

  it('a narrowed list has only its own records', async () => {
    await table.transact(things('narrow', 9).map((thing) => ThingEntity.create(thing)))
    const { items } = await table.listed(ThingEntity, 'narrow#1', { limit: 10 })
    expect(items.map(({ n }) => n)).toEqual([7, 5, 3, 1])
  })

  it('a change moves a record to another narrowed list, or removes it from all', async () => {
    const [moved, taken] = things('leaves', 2)
    if (!moved || !taken) throw new Error('there are two')
    await table.transact([moved, taken].map((thing) => ThingEntity.create({ ...thing, n: 1 })))
    const listed = async (owner: string) => (await table.listed(ThingEntity, owner, { limit: 10 })).items
    expect(await listed('leaves#1')).toHaveLength(2)
    await table.transact([ThingEntity.update(moved, { list: { owner: 'leaves#0', sort: moved.id } })])
    await table.transact([ThingEntity.update(taken, { set: { n: 3 }, list: null })])
    expect(await listed('leaves#1')).toEqual([])
    expect((await listed('leaves#0')).map(({ id }) => id)).toEqual([moved.id])
    expect(await table.get(ThingEntity, taken)).toEqual({ ...taken, n: 3 })
  })

  it('a cross-tenant list merges its shards in order across pages', async () => {
    await table.transact(things('zz', 40).map((thing) => ThingEntity.create({ ...thing, id: `zz${thing.id}` })))
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await listDirectory(table, ThingEntity, 'things', undefined, { limit: 7, after })
      seen.push(...page.items.map(({ id }) => id))
      after = page.next
    } while (after && seen.length < 40)
    expect(seen.slice(0, 40)).toEqual(
      things('zz', 40)
        .map(({ id }) => `zz${id}`)
        .reverse(),
    )
  })

  it('lists, overdue records and counters have shards of their own, and a list doesn’t read more of them for the others', async () => {
    const queries: string[] = []
    const watched = Object.assign(Object.create(client), {
      send: (command: { input: { ExpressionAttributeValues?: { ':p'?: string } } }) => {
        queries.push(String(command.input.ExpressionAttributeValues?.[':p']))
        return client.send(command as never)
      },
    })
    const options = { client: watched, tableName: await store.createTable() }
    const split = new Table({ ...options, shards: 2, dueShards: 5, counterShards: 7 })
    const due = things('split', 40).map((thing) => ({ ...thing, due_at: 1_000 + thing.n }))
    await split.transact(due.map((thing) => ThingEntity.create(thing)))
    queries.length = 0
    expect((await split.due(2_000, 50)).map(({ dueAt }) => dueAt)).toEqual(due.map(({ due_at }) => due_at))
    expect(new Set(queries)).toEqual(new Set(Array.from({ length: 5 }, (_, shard) => `DUE#${shard}`)))
    queries.length = 0
    expect((await listDirectory(split, ThingEntity, 'things', undefined, { limit: 50 })).items).toHaveLength(40)
    expect(queries.filter((partition) => partition.startsWith('DIR#'))).toHaveLength(2)
    const counted = Array.from(
      { length: 40 },
      (_, i) => platformCountWrite({ table: split }, 0, `${i}`, { runs: 1 }).key.pk,
    )
    expect(new Set(counted).size).toBe(7)
    // Without settings of their own, all three are the same.
    const before = new Table({ ...options, shards: 3 })
    expect([before.dueShards, before.counterShards]).toEqual([3, 3])
  })

  it('records that are due are found, oldest first, until they are done', async () => {
    const due = things('due', 6).map((thing) => ({ ...thing, id: `due${thing.id}`, due_at: 1_000 + thing.n }))
    await table.transact(due.map((thing) => ThingEntity.create(thing)))
    expect((await table.due(1_003, 10)).map(({ dueAt }) => dueAt)).toEqual([1_000, 1_001, 1_002, 1_003])
    const [first] = due
    await table.transact([ThingEntity.update(first as Thing, { set: { due_at: undefined } })])
    expect((await table.due(1_003, 10)).map(({ dueAt }) => dueAt)).toEqual([1_001, 1_002, 1_003])
  })

  it('records that are due are found behind others that are skipped, up to a limit', async () => {
    const options = { client, tableName: await store.createTable(), shards: 1 }
    const one = new Table(options)
    const skipped = things('skipped', 30).map((thing) => ({ ...thing, due_at: 1_000 }))
    await one.transact(skipped.map((thing) => ThingEntity.create(thing)))
    const OtherEntity = { ...ThingEntity, name: 'other-thing' }
    const others = things('others', 8).map((thing) => ({ ...thing, due_at: 1_001 }))
    await one.transact(others.map((thing) => ({ ...ThingEntity.create(thing), entity: OtherEntity })))
    const found = async (limit: number, atMost: number) => {
      const due = await one.due(1_001, limit, [0], { skips: (entity) => entity === ThingEntity.name, atMost })
      expect(due.every(({ entity }) => entity === 'other-thing')).toBe(true)
      return new Set(due.map(({ key }) => key.pk + key.sk)).size
    }
    expect(await found(5, 100)).toBe(5)
    expect(await found(10, 100)).toBe(8)
    expect(await found(1, 28)).toBe(0)
    expect(await found(1, 29)).toBe(1)
  })
})

describe('the limits of DynamoDB hold, although the local store has none:', () => {
  const refused = (name: RegExp) => ({ name: 'ValidationException', message: expect.stringMatching(name) })
  const [thing] = things('limits', 1) as [Thing]

  it('an IN has at most 100 operands', async () => {
    await table.transact([ThingEntity.create(thing)])
    const change = (count: number) =>
      table.change(
        ThingEntity.update(
          thing,
          { set: { n: 1 } },
          { where: { n: oneOf(...Array.from({ length: count }, (_, n) => n)) } },
        ),
      )
    expect(await change(100)).toMatchObject({ n: 1 })
    await expect(change(101)).rejects.toMatchObject(refused(/IN of #n has 101 operands/))
  })

  it('a partition key of an index has at most 2,048 bytes', async () => {
    const set = (owner: string) => table.change(ThingEntity.update(thing, { list: { owner, sort: 'x' } }))
    await set('ü'.repeat((2_048 - 'LIST#'.length - 1) / 2))
    await expect(set('ü'.repeat(1_022))).rejects.toMatchObject(refused(/listpk has 2049 bytes/))
    const page = table.listed(ThingEntity, 'x'.repeat(2_044), { limit: 1 })
    await expect(page).rejects.toMatchObject(refused(/listpk has 2049 bytes/))
  })

  it('a sort key of an index has at most 1,024 bytes', async () => {
    const create = (length: number) =>
      table.transact([ThingEntity.create({ owner: 'limits', id: 'i'.repeat(length), n: 0 })])
    await create(1_024 - 'THING#'.length)
    const set = (length: number) =>
      table.change(ThingEntity.update(thing, { list: { owner: 'limits', sort: 's'.repeat(length) } }))
    await set(1_024)
    await expect(set(1_025)).rejects.toMatchObject(refused(/listsk has 1025 bytes/))
  })
})
