import { startPlatform } from './platform.ts'
import { using } from './using.ts'

/**
 * Provides a test file with a platform that starts before its tests and stops after them.
 * @param env settings that differ from the tests' defaults
 */
export const usingPlatform = (env: Record<string, string> = {}) =>
  using(
    () => startPlatform(env),
    (platform) => platform.stop(),
  )
