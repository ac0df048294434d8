import { mkdtempSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { scratchFolder } from './scratch.ts'

/** Variable with the folder for the platforms that the workers share. */
const SHARED = 'TEST_PLATFORMS'

/** Creates the data folder of a platform that runs until the end of the test run. */
export const sharedFolder = (): string => mkdtempSync(`${process.env[SHARED]}/`)

/**
 * Builds, synthesizes and unpacks once, before the first test that needs it. Imports are dynamic, because unit tests need none.
 * @returns the function that ends what the workers' platforms leave behind
 */
export default async (): Promise<() => Promise<void>> => {
  const [{ prepare }, { ASSEMBLY }, { unpackChromium }, { stopLeftoverServer }] = await Promise.all([
    import('#local/prepare.ts'),
    import('./assembly.ts'),
    import('./chromium.ts'),
    import('#local/dynamodb/process.ts'),
  ])
  await Promise.all([prepare({ cdkOut: ASSEMBLY.cdkOut }), unpackChromium()])
  const { folder, remove } = scratchFolder('platforms-')
  process.env[SHARED] = folder
  return async () => {
    for (const one of readdirSync(folder)) await stopLeftoverServer(path.join(folder, one))
    remove()
  }
}
