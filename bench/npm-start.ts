import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT } from '#local/prepare.ts'
import { UNLIMITED } from './local-run.ts'

/** Returns the share of the memory of a process and all that it has started, in MB. Only Linux tells it. */
export const memoryOf = (pid: number): number => {
  try {
    const kilobytes = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return children.reduce((sum, child) => sum + memoryOf(Number(child)), Number(kilobytes) / 1_024)
  } catch {
    return Number.NaN
  }
}

/** Counts the open files of a process and all that it has started. Only Linux tells it. */
export const openFilesOf = (pid: number): number => {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return children.reduce((sum, child) => sum + openFilesOf(Number(child)), readdirSync(`/proc/${pid}/fd`).length)
  } catch {
    return Number.NaN
  }
}

/** Runs the local run as `npm start` does. @returns its address, once it is ready */
export const npmStart = async (dataDir: string, args: readonly string[] = []) => {
  const child = spawn(process.execPath, [path.join(ROOT, 'local/start.ts'), '--json', '--port', '0', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...UNLIMITED, DATA_DIR: dataDir, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /ready at (http:\/\/[^"\s]+)/.exec(line)?.[1]
    if (url === undefined) continue
    child.stdout.resume()
    return { url, pid: child.pid as number, stop }
  }
  throw new Error('npm start ended before it was ready')
}
