import type { Browser } from 'playwright-core'
import { afterAll, test } from 'vitest'
import { launchChromium } from './chromium.ts'

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the pattern
const withChromium = test.extend('chromium', { scope: 'worker' }, async ({}, { onCleanup }) => {
  const browser = await launchChromium()
  onCleanup(() => browser.close())
  return browser
})

/**
 * Provides a test file with the Chromium that all files of a worker share. It is there from the file's hooks on. Contexts that
 * the file leaves open are closed after its tests.
 */
export const usingChromium = (): { browser: Browser } => {
  const used = {} as { browser: Browser }
  withChromium.beforeAll(({ chromium }) => {
    used.browser = chromium
  })
  afterAll(() => Promise.all(used.browser.contexts().map((context) => context.close())))
  return used
}
