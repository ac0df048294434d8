import { spawnSync } from 'node:child_process'
import { it } from 'vitest'

/** Declares a test that needs a program. Where it isn't installed, the test is skipped, and its name says why. */
export const needing = (program: string, name: string, test: () => Promise<void>): void => {
  const isMissing = spawnSync(program, ['--version']).error !== undefined
  it.skipIf(isMissing)(isMissing ? `${name} (skipped: ${program} isn’t installed)` : name, test)
}
