import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Seconds of CPU, user and system. */
export interface CpuTime {
  /** CPU of this process with all its threads. */
  platform: number
  /** CPU of the store's process. NaN if the system doesn't report it. */
  store: number
}

/** Unit in which the kernel reports CPU time, independent of its own clock (proc(5), USER_HZ). */
const TICKS_PER_SECOND = 100

/** Reads the CPU time. @param dataDir folder of the local run, with the process id of the store */
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

/** Reads user and system ticks from a line of /proc/<pid>/stat. The name before them may contain spaces and brackets. */
export const ticksIn = (stat: string): number => {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
