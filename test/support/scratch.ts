import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Linux’s memory as a folder. */
const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4 * 1024 ** 3

/** Containers are given little of it by default. */
const hasMemory = (): boolean => {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}

/**
 * A folder for data that need not outlive the process, in memory where the machine lets us: the local store waits for the
 * disk at every commit, which DynamoDB does not do to its neighbours.
 *
 * @returns it, and what removes it
 */
export const scratchFolder = (prefix: string): { folder: string; remove: () => void } => {
  const folder = mkdtempSync(path.join(hasMemory() ? MEMORY : tmpdir(), prefix))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
