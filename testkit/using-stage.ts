import type { TestPlatform } from './platform.ts'
import { createStage } from './stage.ts'
import { using } from './using.ts'
import { createWorld } from './world.ts'

/** Provides the tests of a file with the states that valid calls need. */
export const usingStage = (platform: TestPlatform) =>
  using(
    () => createStage(platform),
    (stage) => stage.close(),
  )

/** Provides the tests of a file with every kind of caller. */
export const usingWorld = (platform: TestPlatform) =>
  using(
    () => createWorld(platform),
    async () => {},
  )
