import type { PlatformOptions } from '#local/platform.ts'
import { using } from '#test/support/using.ts'
import { type Running, startLocal, temporaryFolder } from './support.ts'

interface UsedLocal extends Running {
  /** After a `stop`: with the same data, at the same address. */
  startAgain(): Promise<void>
}

/**
 * The local platform of a test file, in a folder of its own: started before its tests, stopped and removed after them.
 * @param options asked for when it starts, so that they may name what was started before it
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
