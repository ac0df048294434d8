import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const SCHEMA = `
CREATE TABLE IF NOT EXISTS queued_messages (
  id TEXT PRIMARY KEY, queue TEXT NOT NULL, body TEXT NOT NULL, attributes TEXT NOT NULL, group_id TEXT,
  sent_at INTEGER NOT NULL, visible_at INTEGER NOT NULL, receives INTEGER NOT NULL, first_received_at INTEGER, receipt TEXT,
  dead_letter_source TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS secrets (
  arn TEXT PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL, version TEXT NOT NULL, created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS secret_versions (
  arn TEXT NOT NULL, version TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (arn, version)
) STRICT;
CREATE TABLE IF NOT EXISTS secret_labels (
  arn TEXT NOT NULL, label TEXT NOT NULL, version TEXT NOT NULL, PRIMARY KEY (arn, label)
) STRICT;
CREATE TABLE IF NOT EXISTS objects (
  bucket TEXT NOT NULL, key TEXT NOT NULL, file TEXT NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL,
  headers TEXT NOT NULL, modified_at INTEGER NOT NULL, PRIMARY KEY (bucket, key)
) STRICT;
CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`

/**
 * Opens the file that stores the state of the emulated services across restarts. A crash of the process loses nothing.
 * A power cut may lose the last moments, which is fine on a laptop.
 *
 * The file is locked exclusively while it is open, which also keeps a second local run out of the folder. The operating
 * system releases the lock however this process ends.
 *
 * @param dataDir folder of the local run's data; created when missing
 * @throws DataDirInUse when another local run uses the folder
 */
export const openDatabase = (dataDir: string): DatabaseSync => {
  mkdirSync(dataDir, { recursive: true })
  const database = new DatabaseSync(path.join(dataDir, 'services.db'))
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;')
    database.exec('BEGIN EXCLUSIVE; COMMIT')
    database.exec(SCHEMA)
  } catch (error) {
    database.close()
    const busy = error instanceof Error && /database is locked|SQLITE_BUSY/i.test(error.message)
    throw busy ? new DataDirInUse(dataDir) : error
  }
  return database
}

/** Thrown when another local run uses the same folder. */
class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse'

  constructor(dataDir: string) {
    super(`Another local run uses ${dataDir}. Stop it, or set DATA_DIR (and PORT) to run a second one.`)
  }
}

/** Small values that survive a restart: ports, stream positions. */
export interface StateStore {
  get(key: string): string | undefined
  set(key: string, value: string): void
}

export const createStateStore = (database: DatabaseSync): StateStore => {
  const read = database.prepare('SELECT value FROM state WHERE key = ?')
  const write = database.prepare(
    'INSERT INTO state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  )
  return {
    get: (key) => {
      const row = read.get(key)
      return typeof row?.value === 'string' ? row.value : undefined
    },
    set: (key, value) => {
      write.run(key, value)
    },
  }
}
