import type { TestPlatform } from '#test/support/platform.ts'
import { using } from '#test/support/using.ts'
import { createStage } from './stage.ts'
import { createWorld } from './world.ts'

/** States of the platform that valid calls need, for the tests of a file. */
export const usingStage = (platform: TestPlatform) =>
  using(
    () => createStage(platform),
    (stage) => stage.close(),
  )

/** Everybody who can call, for the tests of a file. */
export const usingWorld = (platform: TestPlatform) =>
  using(
    () => createWorld(platform),
    async () => {},
  )
