import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type DynamodbCall, DynamodbError } from '#local/dynamodb/client.ts'
import type { LookPast } from '#local/dynamodb/stream-records.ts'
import type { Functions } from '#local/functions.ts'
import { sharingReads } from '#local/sources/shards.ts'
import { startStreamSource } from '#local/sources/stream.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const model = {
  kind: 'stream',
  id: 'm',
  functionArn: 'f',
  streamArn: 's',
  batchSize: 10,
  windowMs: 0,
  fromStart: true,
  maxRetries: 0,
  maxAgeSeconds: -1,
  bisect: false,
  reportItemFailures: true,
  onFailureArn: undefined,
  filters: [],
} as const

/** Runs a source on a stream for a minute, and counts its calls by operation. */
const aMinuteOf = async (
  shards: (describes: number) => object[],
  closed = new Set<string>(),
  lastRecord?: () => number,
  expired = 0,
  lookPast?: LookPast,
) => {
  const asked: Record<string, number> = {}
  const call = (async (target: string, input: { ShardId?: string; ShardIterator?: string }) => {
    const operation = target.split('.')[1] ?? ''
    asked[operation] = (asked[operation] ?? 0) + 1
    if (operation === 'DescribeStream') return { StreamDescription: { Shards: shards(asked[operation]) } }
    if (operation === 'GetShardIterator') return { ShardIterator: input.ShardId }
    if ((asked[operation] ?? 0) <= expired) throw new DynamodbError('ExpiredIteratorException', 'too old')
    // One record, which passes no filter.
    const isFirst = asked[operation] === 1 && lookPast !== undefined
    const Records = isFirst ? [{ eventName: 'REMOVE', dynamodb: { SequenceNumber: '1' } }] : []
    return { Records, ...(!closed.has(input.ShardIterator ?? '') && { NextShardIterator: input.ShardIterator }) }
  }) as unknown as DynamodbCall
  const state = new Map<string, string>()
  const functions = { find: () => undefined, onActivity: () => () => undefined, running: 0 } as unknown as Functions
  const source = startStreamSource(
    { ...model, filters: [{ eventName: ['INSERT'] }] },
    {
      call,
      streamArn: 's',
      lastRecord,
      lookPast,
      functions,
      sqs: { byArn: () => undefined } as never,
      state: { get: (key) => state.get(key), set: (key, value) => void state.set(key, value) },
      disk: { isFull: false, writable: async () => {} },
      onError: (error) => {
        throw error
      },
    },
  )
  await vi.advanceTimersByTimeAsync(60_000)
  await source.stop()
  return asked
}

test('a stream isn’t described again while its shard stays open, because the server reads all records for it', async () => {
  const asked = await aMinuteOf(() => [{ ShardId: 'a' }])
  expect(asked.DescribeStream).toBe(1)
  expect(asked.GetRecords).toBeGreaterThan(100)
})

test('a stream whose last record is known is read only if there is another', async () => {
  const began = Date.now()
  const open = () => [{ ShardId: 'a' }]
  expect((await aMinuteOf(open, new Set(), () => 7)).GetRecords).toBe(1)
  const eachTenSeconds = () => Math.floor((Date.now() - began) / 10_000)
  expect((await aMinuteOf(open, new Set(), eachTenSeconds)).GetRecords).toBe(7)
})

test('a stream isn’t read while none of its records passes the filters, and continues after them', async () => {
  const places: string[] = []
  let last = 1
  const asked = await aMinuteOf(
    () => [{ ShardId: 'a' }],
    new Set(),
    () => last++,
    0,
    ({ after }) => {
      places.push(after)
      return places.length === 4 ? undefined : String(Number(after) + 10)
    },
  )
  expect(places.slice(0, 6)).toEqual(['1', '11', '21', '31', '31', '41'])
  // The first read, which finds the place, and the one that was wanted, after what was passed over.
  expect(asked).toMatchObject({ GetShardIterator: 2, GetRecords: 2 })
})

test('the shard after a closed one is read at once', async () => {
  const asked = await aMinuteOf(() => [{ ShardId: 'a' }, { ShardId: 'b', ParentShardId: 'a' }], new Set(['a']))
  expect(asked).toMatchObject({ DescribeStream: 2, GetShardIterator: 2 })
})

test('a stream without shards is polled until it has one', async () => {
  const asked = await aMinuteOf((describes) => (describes < 3 ? [] : [{ ShardId: 'a' }]))
  expect(asked).toMatchObject({ DescribeStream: 3, GetShardIterator: 1 })
})

test('a stream whose position expired is read again at once, though it has no other record', async () => {
  const asked = await aMinuteOf(
    () => [{ ShardId: 'a' }],
    new Set(),
    () => 7,
    1,
  )
  expect(asked).toMatchObject({ GetShardIterator: 2, GetRecords: 2 })
})

test('sources that read the same place share the answer until there is another record or the read fails', async () => {
  const calls: string[] = []
  let last = 1
  const call = (async (target: string, { ShardIterator }: { ShardIterator?: string }) => {
    calls.push(`${target.split('.')[1]} ${ShardIterator}`)
    if (ShardIterator === 'broken') throw new Error('broken')
    return { Records: [] }
  }) as unknown as DynamodbCall
  const shared = sharingReads(call, () => last)
  const read = (ShardIterator: string) => shared('DynamoDBStreams_20120810.GetRecords', { ShardIterator })
  await Promise.all([read('a'), read('a')])
  await read('a')
  expect(calls.splice(0)).toEqual(['GetRecords a'])
  last = 2
  await read('a')
  await read('b')
  expect(calls.splice(0)).toEqual(['GetRecords a', 'GetRecords b'])
  await expect(read('broken')).rejects.toThrow()
  await expect(read('broken')).rejects.toThrow()
  expect(calls).toHaveLength(2)
})
