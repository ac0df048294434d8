import type { PlatformOptions } from '#local/platform.ts'
import { sharedFolder } from '#testkit/global-setup.ts'
import { using } from '#testkit/using.ts'
import { type Running, startLocal, temporaryFolder } from './support.ts'

interface UsedLocal extends Running {
  /** Starts again after a `stop`, with the same data and address. */
  startAgain(): Promise<void>
}

/**
 * Runs a local platform of a test file's own, in its own folder. It starts before the file's tests and is stopped and
 * removed after them.
 * @param options evaluated at the start, so that they can name what was started before it
 */
export const usingOwnLocal = (options: () => Partial<PlatformOptions> = () => ({})): UsedLocal => {
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

/** The platform of this worker. The end of the test run stops it: see `testkit/global-setup.ts`. */
let shared: Promise<Running> | undefined

/**
 * Provides a test file with the local platform that all files of a worker share, for tests that keep to their own developers
 * and workspaces. `logs` are those written since the file began.
 */
export const usingLocal = (): Omit<Running, 'stop'> => {
  let off = (): void => {}
  return using(
    async () => {
      shared ??= startLocal({ dataDir: sharedFolder() })
      const { platform, baseUrl, dataDir } = await shared
      const logs: Running['logs'] = []
      off = platform.onLog((entry) => logs.push(entry))
      return { platform, baseUrl, dataDir, logs }
    },
    async () => off(),
  )
}
