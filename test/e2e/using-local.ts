import type { PlatformOptions } from '#local/platform.ts'
import { using } from '#testkit/using.ts'
import { type Running, startLocal, temporaryFolder } from './support.ts'

interface UsedLocal extends Running {
  /** Starts again after a `stop`, with the same data and address. */
  startAgain(): Promise<void>
}

/**
 * Runs the local platform for a test file, in its own folder. It starts before the file's tests and is stopped and
 * removed after them.
 * @param options evaluated at the start, so that they can name what was started before it
 */
export const usingLocal = (options: () => Partial<PlatformOptions> = () => ({})): UsedLocal => {
  let remove = (): void => {}
  return using(
    async () => {
      const place = temporaryFolder()
      remove = place.remove
      const start = (more: Partial<PlatformOptions> = {}) =>
        startLocal({ dataDir: place.folder, ...options(), ...more })
      const used: UsedLocal = {
        ...(await start()),
        startAgain: async () => {
          Object.assign(used, await start({ port: Number(new URL(used.baseUrl).port) }))
        },
      }
      return used
    },
    async (running) => {
      await running.stop()
      remove()
    },
  )
}
