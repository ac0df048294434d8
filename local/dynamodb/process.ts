import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTimeLimit } from '#shared/kernel/time-limit.ts'
import { freePort } from '../free-port.ts'
import { holdIdleConnections } from './idle-connections.ts'

/** A running DynamoDB-compatible server. */
export interface DynamodbProcess {
  endpoint: string
  /** SQLite file of its database. */
  database: string
  stop(): Promise<void>
}

const START_TIMEOUT_MS = 10_000
/** SQLite file in the data folder. */
export const DATABASE_FILE = 'dynamodb.db'
const PID_FILE = 'dynamodb.pid'

/**
 * Returns the path of the dynoxide binary for a platform.
 *
 * @param platform in npm's notation; this machine's by default
 * @throws Error with instructions if there is none
 */
export const dynoxideBinary = (platform = `${process.platform}-${process.arch}`): string => {
  const name = `@dynoxide/${platform}`
  const file = process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide'
  try {
    const folder = path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    const binary = path.join(folder, file)
    if (!existsSync(binary)) throw new Error('not in the package')
    return binary
  } catch {
    throw new Error(
      `The local DynamoDB (${name}) is not installed. Run "npm install" without --omit=optional, or set ` +
        'AWS_ENDPOINT_URL_DYNAMODB to the address of a DynamoDB Local, e.g. http://127.0.0.1:8000.',
    )
  }
}

/** Returns the command line of a process, or an empty string if it has ended (or is a zombie). */
const commandOf = (pid: number): string => {
  try {
    return execFileSync('ps', ['-p', String(pid), '-o', 'args='], { encoding: 'utf8' })
  } catch {
    return ''
  }
}

/**
 * Ends the server of a run that was killed, which still has the database open. Verifies first that the process is such
 * a server.
 *
 * @param dataDir of that run; no other run may be using it
 */
export const stopLeftoverServer = async (dataDir: string): Promise<void> => {
  const pidFile = path.resolve(dataDir, PID_FILE)
  const database = path.resolve(dataDir, DATABASE_FILE)
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0
  rmSync(pidFile, { force: true })
  if (!pid || process.platform === 'win32') return
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (let waited = 0; waited < 2_000; waited += 50) {
      if (!commandOf(pid).includes(database)) return
      if (waited === 0) process.kill(pid, signal)
      await sleep(50)
    }
  }
}

const waitUntilReady = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let output = ''
    const limit = startTimeLimit(START_TIMEOUT_MS, () => reject(new Error(`dynoxide does not respond: ${output}`)))
    child.stderr?.on('data', (piece: Buffer) => {
      output += piece
      if (!/listening on/i.test(output)) return
      limit.clear()
      output = ''
      resolve()
    })
    child.once('error', reject)
    child.once('exit', (code) => {
      limit.clear()
      reject(new Error(`dynoxide exited with code ${code}: ${output.trim()}`))
    })
  })

/**
 * Starts dynoxide over a database file.
 *
 * @param options.dataDir folder of `dynamodb.db`
 * @param options.onExit called when the server exits by itself
 * @throws Error when the binary is missing or does not start
 */
export const startDynoxide = async (options: {
  dataDir: string
  onExit: (code: number | null) => void
}): Promise<DynamodbProcess> => {
  const binary = dynoxideBinary()
  // npm preserves the mode of files in the package, but some archives and caches lose it.
  if (process.platform !== 'win32') {
    try {
      chmodSync(binary, 0o755)
    } catch {
      // The file belongs to another user. Either it is executable, or spawning fails with that error.
    }
  }
  const database = path.resolve(options.dataDir, DATABASE_FILE)
  const pidFile = path.resolve(options.dataDir, PID_FILE)
  await stopLeftoverServer(options.dataDir)
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort()
    const child = spawn(binary, ['serve', '--port', String(port), '--db-path', database], {
      stdio: ['ignore', 'ignore', 'pipe'],
      // Handing each call to another thread costs an eighth of the store's CPU, and SQLite writes one at a time anyway.
      env: { ...process.env, TOKIO_WORKER_THREADS: '1' },
      // Ctrl-C reaches the whole process group. The server must outlive the functions that are still writing.
      detached: process.platform !== 'win32',
    })
    const killWithUs = () => child.kill('SIGKILL')
    process.once('exit', killWithUs)
    try {
      await waitUntilReady(child)
    } catch (error) {
      process.removeListener('exit', killWithUs)
      child.kill()
      if (attempt < 3) continue
      throw error
    }
    writeFileSync(pidFile, String(child.pid))
    // Nothing waits for them.
    void holdIdleConnections(port)
    let stopping = false
    child.removeAllListeners('exit')
    const exited = new Promise<void>((resolve) => {
      child.once('exit', (code) => {
        rmSync(pidFile, { force: true })
        if (!stopping) options.onExit(code)
        resolve()
      })
    })
    return {
      endpoint: `http://127.0.0.1:${port}`,
      database,
      stop: async () => {
        stopping = true
        process.removeListener('exit', killWithUs)
        child.kill('SIGTERM')
        const late = setTimeout(() => child.kill('SIGKILL'), 3_000)
        await exited
        clearTimeout(late)
      },
    }
  }
}
