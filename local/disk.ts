import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Interval of looking for space on a full disk. */
const LOOK_MS = 1_000
/** As much as a burst of writes needs. With less, the disk would be full again at once. */
const PROBE_BYTES = 1024 * 1024
const PROBE_FILE = 'disk.probe'

/** SQLite's result code SQLITE_FULL. */
const SQLITE_FULL = 13
const FULL_TEXT = /database or disk is full|\b(ENOSPC|EDQUOT)\b/

/** Message to callers whose write found the disk full. */
export const DISK_FULL = 'The disk of the local run is full.'

/** Returns true for an error, or a line of a log, that says that the disk is full. */
const saysDiskFull = (problem: unknown): boolean => {
  if (typeof problem === 'string') return FULL_TEXT.test(problem)
  if (!(problem instanceof Error)) return false
  const { code, errcode, message } = problem as NodeJS.ErrnoException & { errcode?: number }
  return code === 'ENOSPC' || code === 'EDQUOT' || errcode === SQLITE_FULL || FULL_TEXT.test(message)
}

/** The disk of the data folder. */
export interface Disk {
  /** True from the first write that fails for want of space until there is space again. */
  readonly isFull: boolean
  /**
   * Takes notice of an error or a line of a log.
   * @returns true if it says that the disk is full, which needs no line of its own then
   */
  notice(problem: unknown): boolean
  /** Resolves at once, or when there is space again. */
  writable(): Promise<void>
  stop(): void
}

/** Dependencies of {@link watchDisk}. */
export interface DiskOptions {
  dataDir: string
  /** Prints one line when the disk is full, and one when there is space again. */
  say: (message: string, level: 'info' | 'error') => void
  /** Writes and removes as much as a burst of writes needs. Throws if there is no space for it. */
  probe?: () => void
}

const probeIn = (dataDir: string) => () => {
  const file = path.join(dataDir, PROBE_FILE)
  try {
    writeFileSync(file, Buffer.alloc(PROBE_BYTES))
  } finally {
    rmSync(file, { force: true })
  }
}

/** Notices a full disk by the writes that fail, says so once, and looks for space until there is some. */
export const watchDisk = ({ dataDir, say, probe = probeIn(dataDir) }: DiskOptions): Disk => {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let space = Promise.withResolvers<void>()
  space.resolve()

  const hasSpace = (): boolean => {
    try {
      probe()
      return true
    } catch {
      return false
    }
  }

  const look = () => {
    if (!hasSpace()) return
    clearInterval(timer)
    timer = undefined
    say('There is space on the disk again. What is due goes on.', 'info')
    space.resolve()
  }

  return {
    get isFull() {
      return timer !== undefined
    },
    notice: (problem) => {
      if (!saysDiskFull(problem)) return false
      if (timer || stopped) return true
      // A line may repeat what an agent says about its own disk.
      if (typeof problem === 'string' && hasSpace()) return false
      space = Promise.withResolvers()
      timer = setInterval(look, LOOK_MS)
      timer.unref()
      say(
        `The disk of ${dataDir} is full. Nothing is saved until there is space, and work that is due waits. Reads go on.`,
        'error',
      )
      return true
    },
    writable: () => space.promise,
    stop: () => {
      stopped = true
      clearInterval(timer)
      timer = undefined
      space.resolve()
    },
  }
}
