import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Seconds of CPU, user and system together. */
export interface CpuTime {
  /** Of this process with all its threads. */
  platform: number
  /** Of the store's process; NaN where the system does not tell. */
  store: number
}

/** The kernel counts in hundredths of a second towards programs, whatever its own clock is (proc(5), USER_HZ). */
const TICKS_PER_SECOND = 100

/** @param dataDir of the local run, which keeps the id of the store's process there */
export const cpuTime = (dataDir: string): CpuTime => {
  const { user, system } = process.cpuUsage()
  return { platform: (user + system) / 1e6, store: ofProcess(Number(readFileSync(path.join(dataDir, 'dynamodb.pid')))) }
}

const ofProcess = (pid: number): number => {
  try {
    return ticksIn(readFileSync(`/proc/${pid}/stat`, 'utf8')) / TICKS_PER_SECOND
  } catch {
    return Number.NaN
  }
}

/** User's and system's ticks of a line of /proc/<pid>/stat. The name before them may hold spaces and brackets. */
export const ticksIn = (stat: string): number => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
