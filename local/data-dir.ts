import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { checkDatabase, DataDirInUse, DataDirUnusable, openDatabase, StoreBroken } from './aws/database.ts'
import { DATABASE_FILE, stopLeftoverServer } from './dynamodb/process.ts'
import type { Endpoints } from './environment.ts'

/** Description of a running platform, for `npm run invoke` and similar commands. */
export interface RunningPlatform {
  pid: number
  baseUrl: string
  endpoints: Endpoints
}

const RUN_FILE = 'run.json'
/**
 * Files of the local run in its folder. Nothing else there is removed: the synthesized stacks derive from the sources
 * alone.
 */
const OWN = ['services.db', 'dynamodb.db']
  .flatMap((name) => [name, `${name}-wal`, `${name}-shm`])
  .concat('objects', RUN_FILE)

/** Returns whether an earlier run has created its tables. */
export const hasTables = (dataDir: string): boolean => existsSync(path.join(dataDir, 'dynamodb.db'))

/**
 * Removes the data of earlier runs (`--fresh`).
 *
 * @throws DataDirInUse when a run is using the data
 */
export const deleteData = async (dataDir: string): Promise<void> => {
  try {
    openDatabase(dataDir).close()
  } catch (error) {
    // Broken files are removed like any others.
    if (error instanceof DataDirInUse) throw error
  }
  const removeFiles = () => {
    for (const name of OWN) rmSync(path.join(dataDir, name), { recursive: true, force: true })
  }
  try {
    await stopLeftoverServer(dataDir)
    removeFiles()
  } catch (error) {
    throw new DataDirUnusable(dataDir, error)
  }
  // Reports a folder that can't be written before the build, not after it.
  openDatabase(dataDir).close()
  removeFiles()
}

/**
 * Checks the data of earlier runs, and sets it aside if its store is broken.
 *
 * @returns the folder in which it is then
 * @throws DataDirInUse when a run is using the data; DataDirUnusable
 */
export const checkData = async (dataDir: string): Promise<string | undefined> => {
  try {
    openDatabase(dataDir).close()
    const file = path.join(dataDir, DATABASE_FILE)
    if (existsSync(file)) checkDatabase(file, dataDir)
    return undefined
  } catch (error) {
    if (!(error instanceof StoreBroken)) throw error
  }
  await stopLeftoverServer(dataDir)
  const aside = path.join(dataDir, `broken-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`)
  mkdirSync(aside)
  for (const name of OWN) {
    if (existsSync(path.join(dataDir, name))) renameSync(path.join(dataDir, name), path.join(aside, name))
  }
  return aside
}

export const saveRunning = (dataDir: string, running: RunningPlatform): void =>
  writeFileSync(path.join(dataDir, RUN_FILE), JSON.stringify(running))

export const deleteRunning = (dataDir: string): void => rmSync(path.join(dataDir, RUN_FILE), { force: true })

/** Returns the platform that currently uses the folder, if any. */
export const findRunning = async (dataDir: string): Promise<RunningPlatform | undefined> => {
  const file = path.join(dataDir, RUN_FILE)
  if (!existsSync(file)) return undefined
  const running = JSON.parse(readFileSync(file, 'utf8')) as RunningPlatform
  // A killed run leaves the file behind, so only a response proves that the platform runs.
  const answers = await fetch(running.endpoints.sqs, { signal: AbortSignal.timeout(1_000) }).then(
    () => true,
    () => false,
  )
  return answers ? running : undefined
}
