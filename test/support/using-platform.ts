import { afterAll, beforeAll } from 'vitest'
import { startPlatform, type TestPlatform } from './platform.ts'

/**
 * The platform of a test file: started before its tests, stopped after them. What is returned is good inside tests and
 * hooks; nothing is there yet while the file is read.
 * @param env settings that differ from the tests' own
 */
export const usingPlatform = (env: Record<string, string> = {}): TestPlatform => {
  let platform: TestPlatform | undefined
  beforeAll(async () => {
    platform = await startPlatform(env)
  })
  afterAll(() => platform?.stop())
  return new Proxy({} as TestPlatform, {
    get: (_, name) => {
      if (!platform) throw new Error(`the platform is not started yet: read ${String(name)} inside a test`)
      return Reflect.get(platform, name)
    },
  })
}
