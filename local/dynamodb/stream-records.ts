import { DatabaseSync } from 'node:sqlite'
import { DAY, HOUR, SECOND } from '#shared/kernel/clock.ts'

/** The stream records in dynoxide's database. */
interface StreamRecords {
  /** Returns a number that grows with each record. Reading it takes a hundredth of the time of a call. */
  last(): number
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
    close: () => {
      clearInterval(timer)
      database.close()
    },
  }
}
