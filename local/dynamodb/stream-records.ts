import { DatabaseSync } from 'node:sqlite'
import { DAY, HOUR, SECOND } from '#shared/kernel/clock.ts'

/**
 * dynoxide numbers a record by the highest number so far and reads by it, without an index: every write and every poll goes
 * through all records ever written, and none is ever deleted. Adds the index and deletes what is
 * older than a day, as DynamoDB does, so that a run that is in use for weeks answers as a new one does.
 *
 * @param file dynoxide's database, open there
 */
export const keepStreamRecords = (file: string, onError: (error: unknown) => void): { close(): void } => {
  const database = new DatabaseSync(file)
  database.exec(`
    PRAGMA busy_timeout = 5000;
    CREATE INDEX IF NOT EXISTS stream_records_by_number
      ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
  `)
  // Numbers go on from the last record.
  const remove = database.prepare(
    'DELETE FROM _stream_records WHERE created_at < ? AND id < (SELECT MAX(id) FROM _stream_records)',
  )
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
    close: () => {
      clearInterval(timer)
      database.close()
    },
  }
}
