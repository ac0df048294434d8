import { type DynamodbCall, DynamodbError } from '../dynamodb/client.ts'
import type { StreamRecord } from './stream-batch.ts'

const TARGET = 'DynamoDBStreams_20120810'

/** Most records of one read. */
export const PAGE = 1_000

/**
 * Lets sources that read the same place of a stream share the answer, as long as there is no other record. They poll in the same
 * moment, because the same activity wakes them.
 * @param lastRecord returns a number that grows with each record
 */
export const sharingReads = (call: DynamodbCall, lastRecord: (() => number) | undefined): DynamodbCall => {
  let kept: { of: string; answer: Promise<unknown> } | undefined
  return <Output>(target: string, input: object): Promise<Output> => {
    if (!lastRecord || target !== `${TARGET}.GetRecords`) return call(target, input)
    const of = `${lastRecord()} ${JSON.stringify(input)}`
    if (kept?.of === of) return kept.answer as Promise<Output>
    const answer = call<Output>(target, input)
    kept = { of, answer }
    answer.catch(() => {
      kept = undefined
    })
    return answer
  }
}

/** Position in each shard: a sequence number, or `done` when the shard is closed and read to its end. */
export interface Positions {
  get(shardId: string): string | undefined
  set(shardId: string, position: string): void
}

interface Shard {
  ShardId: string
  ParentShardId?: string
}

/** Reads a stream's shards, parents before children, from the stored position. */
export interface ShardReader {
  /** Lists the shards that may be read now. */
  open(): Promise<string[]>
  /** Reads the next records of a shard; none if there is nothing new, and undefined if it has to be read again. */
  read(shardId: string): Promise<StreamRecord[] | undefined>
  /** Continues after a record that wasn't read. */
  skipTo(shardId: string, position: string): void
  /** Continues at the stored positions, because records that were read couldn't be handled. */
  rewind(): void
}

/**
 * Creates the reader of a stream.
 * @param options.fromStart start at the oldest record (`TRIM_HORIZON`) if no position is stored, else at the newest
 */
export const createShardReader = (options: {
  call: DynamodbCall
  streamArn: string
  positions: Positions
  fromStart: boolean
}): ShardReader => {
  const { call, streamArn, positions } = options
  const iterators = new Map<string, string>()

  const iteratorOf = async (shardId: string, fresh = false): Promise<string> => {
    const known = iterators.get(shardId)
    if (known) return known
    const position = fresh ? undefined : positions.get(shardId)
    const where = position
      ? { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: position }
      : { ShardIteratorType: options.fromStart || fresh ? 'TRIM_HORIZON' : 'LATEST' }
    const input = { StreamArn: streamArn, ShardId: shardId, ...where }
    const { ShardIterator } = await call<{ ShardIterator: string }>(`${TARGET}.GetShardIterator`, input)
    iterators.set(shardId, ShardIterator)
    return ShardIterator
  }

  return {
    open: async () => {
      const shards: Shard[] = []
      let last: string | undefined
      do {
        const input = { StreamArn: streamArn, ...(last && { ExclusiveStartShardId: last }) }
        const answer = await call<{ StreamDescription: { Shards?: Shard[]; LastEvaluatedShardId?: string } }>(
          `${TARGET}.DescribeStream`,
          input,
        )
        shards.push(...(answer.StreamDescription.Shards ?? []))
        last = answer.StreamDescription.LastEvaluatedShardId
      } while (last)
      const ids = new Set(shards.map(({ ShardId }) => ShardId))
      const unread = ({ ShardId }: Shard) => positions.get(ShardId) !== 'done'
      const parentRead = ({ ParentShardId }: Shard) =>
        !ParentShardId || !ids.has(ParentShardId) || positions.get(ParentShardId) === 'done'
      return shards.filter((shard) => unread(shard) && parentRead(shard)).map(({ ShardId }) => ShardId)
    },
    skipTo: (shardId, position) => {
      iterators.delete(shardId)
      positions.set(shardId, position)
    },
    rewind: () => iterators.clear(),
    read: async (shardId) => {
      try {
        const input = { ShardIterator: await iteratorOf(shardId), Limit: PAGE }
        const answer = await call<{ Records?: StreamRecord[]; NextShardIterator?: string }>(
          `${TARGET}.GetRecords`,
          input,
        )
        const records = answer.Records ?? []
        if (answer.NextShardIterator) iterators.set(shardId, answer.NextShardIterator)
        else {
          iterators.delete(shardId)
          // The shard's last records are complete before the mark is read, so no batch checkpoints after this page's
          // end.
          if (records.length === 0) positions.set(shardId, 'done')
        }
        return records
      } catch (error) {
        iterators.delete(shardId)
        if (!(error instanceof DynamodbError)) throw error
        if (error.code === 'TrimmedDataAccessException') await iteratorOf(shardId, true)
        else if (error.code !== 'ExpiredIteratorException') throw error
        return undefined
      }
    },
  }
}
