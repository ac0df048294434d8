import { accessSync, constants, mkdirSync } from 'node:fs'
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
  try {
    mkdirSync(dataDir, { recursive: true })
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    throw new DataDirUnusable(dataDir, error)
  }
  const database = openFile(path.join(dataDir, 'services.db'), dataDir)
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;')
    database.exec('BEGIN EXCLUSIVE; COMMIT')
    database.exec(SCHEMA)
  } catch (error) {
    database.close()
    const busy = error instanceof Error && /database is locked|SQLITE_BUSY/i.test(error.message)
    throw busy ? new DataDirInUse(dataDir) : explain(error, dataDir)
  }
  return database
}

/** SQLite's result codes for a file that is damaged, or no database at all. */
const BROKEN = [11, 26]

const explain = (error: unknown, dataDir: string): unknown => {
  const code = (error as { errcode?: number }).errcode
  if (code === undefined) return error
  return BROKEN.includes(code & 0xff) ? new StoreBroken(dataDir) : new DataDirUnusable(dataDir, error)
}

const openFile = (file: string, dataDir: string): DatabaseSync => {
  try {
    return new DatabaseSync(file)
  } catch (error) {
    throw explain(error, dataDir)
  }
}

/**
 * Reads the head of a database that another process writes.
 * @throws StoreBroken
 */
export const checkDatabase = (file: string, dataDir: string): void => {
  const database = openFile(file, dataDir)
  try {
    database.exec('SELECT count(*) FROM sqlite_master')
  } catch (error) {
    throw explain(error, dataDir)
  } finally {
    database.close()
  }
}

/** Thrown when the folder can't hold data: it is a file, or may not be written. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable'

  constructor(dataDir: string, cause: unknown) {
    const { code, message } = cause as NodeJS.ErrnoException
    const isFile = code === 'EEXIST' || code === 'ENOTDIR'
    const reason = isFile ? 'is a file, or below one' : `can't be written (${code ?? message})`
    const remedy = isFile ? 'Move the file away' : 'Make the folder and the files in it writable'
    super(`The data folder ${dataDir} ${reason}. ${remedy}, or set DATA_DIR to another folder.`, { cause })
  }
}

/** Thrown when a file of the store is damaged. */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken'

  constructor(dataDir: string) {
    super(`The store in ${dataDir} is broken. Start without data: npm start -- --fresh`)
  }
}

/** Thrown when another local run uses the same folder. */
export class DataDirInUse extends Error {
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
