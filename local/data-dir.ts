import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { openDatabase } from './aws/database.ts'
import { endLeftover } from './dynamodb/process.ts'
import type { Endpoints } from './environment.ts'

/** What a running platform tells of itself, for `npm run invoke` and the like. */
export interface RunningPlatform {
  pid: number
  baseUrl: string
  endpoints: Endpoints
}

const RUN_FILE = 'run.json'
/** What the local run keeps in its folder; nothing else there is ever touched. */
const OWN = ['services.db', 'dynamodb.db']
  .flatMap((name) => [name, `${name}-wal`, `${name}-shm`])
  .concat('objects', 'cdk.out', RUN_FILE)

/**
 * Removes the data of earlier runs (`--fresh`).
 *
 * @throws DataDirInUse when a run is at work on it
 */
export const wipe = async (dataDir: string): Promise<void> => {
  openDatabase(dataDir).close()
  await endLeftover(dataDir)
  for (const name of OWN) rmSync(path.join(dataDir, name), { recursive: true, force: true })
}

export const announce = (dataDir: string, running: RunningPlatform): void =>
  writeFileSync(path.join(dataDir, RUN_FILE), JSON.stringify(running))

export const withdraw = (dataDir: string): void => rmSync(path.join(dataDir, RUN_FILE), { force: true })

/** The platform that works on the folder right now, if there is one. */
export const findRunning = async (dataDir: string): Promise<RunningPlatform | undefined> => {
  const file = path.join(dataDir, RUN_FILE)
  if (!existsSync(file)) return undefined
  const running = JSON.parse(readFileSync(file, 'utf8')) as RunningPlatform
  // A run that was killed leaves the file behind: only an answer counts.
  const answers = await fetch(running.endpoints.sqs, { signal: AbortSignal.timeout(1_000) }).then(
    () => true,
    () => false,
  )
  return answers ? running : undefined
}
