import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { DAY, HOUR, SECOND } from '#shared/kernel/clock.ts'
import { filterCondition } from './stream-filters.ts'

/** Place in a shard of a stream. */
export interface StreamPlace {
  streamArn: string
  shardId: string
  /** Sequence number of the record before it. */
  after: string
}

/**
 * Looks for records that pass one of a mapping's filters, without reading them.
 * @returns the sequence number of the last record if none passes, or undefined if the records have to be read
 */
export type LookPast = (place: StreamPlace, filters: readonly unknown[]) => string | undefined

/** The stream records in dynoxide's database. */
interface StreamRecords {
  /** Returns a number that grows with each record. Reading it takes a hundredth of the time of a call. */
  last(): number
  lookPast: LookPast
  close(): void
}

/**
 * Indexes and prunes dynoxide's stream records. dynoxide assigns each record the highest number so far plus one and
 * reads by number, without an index. Every write and every poll therefore scans all records ever written, and none is
 * ever deleted. This adds the index and deletes records older than a day, as DynamoDB does. A run that is used for
 * weeks then stays as fast as a new one.
 *
 * @param file dynoxide's database, which dynoxide has open
 */
export const maintainStreamRecords = (file: string, onError: (error: unknown) => void): StreamRecords => {
  const database = new DatabaseSync(file)
  database.exec(`
    PRAGMA busy_timeout = 5000;
    CREATE INDEX IF NOT EXISTS stream_records_by_number
      ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
  `)
  // Keeps the last record, because numbers continue from it.
  const remove = database.prepare(
    'DELETE FROM _stream_records WHERE created_at < ? AND id < (SELECT MAX(id) FROM _stream_records)',
  )
  const last = database.prepare('SELECT MAX(id) AS last FROM _stream_records')
  const lookups = new Map<string, StatementSync>()
  const lookup = (filters: readonly unknown[]): StatementSync => {
    const condition = filterCondition(filters)
    const known = lookups.get(condition)
    if (known) return known
    const statement = database.prepare(`
      SELECT MAX(CAST(sequence_number AS INTEGER)) AS last, MAX(${condition}) AS passes FROM _stream_records
      WHERE table_name = ? AND CAST(sequence_number AS INTEGER) > CAST(? AS INTEGER) AND shard_id = ?
    `)
    lookups.set(condition, statement)
    return statement
  }
  const trim = () => remove.run(Math.floor((Date.now() - DAY) / SECOND))
  const timer = setInterval(() => {
    try {
      trim()
    } catch (error) {
      onError(error)
    }
  }, HOUR)
  timer.unref()
  trim()
  return {
    last: () => Number(last.get()?.last ?? 0),
    lookPast: ({ streamArn, shardId, after }, filters) => {
      const found = lookup(filters).get(streamArn.split('/')[1] ?? '', after, shardId)
      return found?.passes === 0 ? String(found.last) : undefined
    },
    close: () => {
      clearInterval(timer)
      database.close()
    },
  }
}
