import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Linux’s in-memory file system. */
const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4 * 1024 ** 3

/** Returns true if there is enough of it. Containers get little by default. */
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
 * Creates a folder for temporary data, in memory if possible. On a disk, the local store would wait for every commit of all tenants,
 * which DynamoDB doesn't do.
 *
 * @returns the folder and a function that removes it
 */
export const scratchFolder = (prefix: string): { folder: string; remove: () => void } => {
  const folder = mkdtempSync(path.join(hasMemory() ? MEMORY : tmpdir(), prefix))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
