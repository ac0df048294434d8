import { startPlatform } from './platform.ts'
import { using } from './using.ts'

/**
 * The platform of a test file: started before its tests, stopped after them.
 * @param env settings that differ from the tests' own
 */
export const usingPlatform = (env: Record<string, string> = {}) =>
  using(
    () => startPlatform(env),
    (platform) => platform.stop(),
  )
