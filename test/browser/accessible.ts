import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { DEEP, SEED, sampleOf } from '#testkit/sampling.ts'

/** Folder for pictures of pages, if any. They are for people to look at, and nothing compares them. */
export const PICTURES = process.env.SCREENSHOTS

const EVERY_THEME = ['light', 'dark'] as const

/** Themes in which tests look at a page: `npm test` draws one by its seed. */
export const THEMES = PICTURES ? EVERY_THEME : sampleOf(EVERY_THEME, 2)

/** Themes of one of several widths. Neighbours get different ones, so that a sample has both. */
const themesAt = (n: number) =>
  DEEP || PICTURES ? EVERY_THEME : EVERY_THEME.filter((_, theme) => theme === (SEED + n) % 2)

/** Saves a picture of a page if there is a folder for it. */
export const takePicture = async (page: Page, name: string, options: { fullPage?: boolean } = {}): Promise<void> => {
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, ...options })
}

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** WCAG 2.2 (1.4.3) exempts inactive controls from contrast. Axe doesn't know that a busy button is one. */
const CONTRAST = { id: 'color-contrast', selector: ':not(button[aria-busy="true"])' }

/** Returns the rule and the elements of each axe violation. */
export const findViolations = async (page: Page): Promise<string[]> => {
  if (!(await page.evaluate('Boolean(window.axe)')))
    await page.evaluate(`${await axe}; axe.configure({ rules: [${JSON.stringify(CONTRAST)}] })`)
  return page.evaluate(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map((n) => n.html).join()))`,
  )
}

/** How far a page can be scrolled sideways. */
const OVERFLOW = 'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)'

/**
 * Expects no horizontal overflow at any width, and no axe violations. Axe looks at every other state, at one of the widths in one of
 * the themes, drawn by the seed and different from state to state. A deep run looks at all of them.
 * @param widths of the window; by default a phone's and a desktop's
 */
export const expectAccessible = async (page: Page, state: string, widths = [360, 1_280]): Promise<void> => {
  for (const [n, width] of widths.entries()) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of themesAt(n)) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const isDrawn = DEEP || n === (SEED + state.length) % (2 * widths.length)
      const faults = isDrawn ? await findViolations(page) : []
      const overflow = await page.evaluate(OVERFLOW)
      await takePicture(page, `${state}-${width}-${colorScheme}`, { fullPage: true })
      expect.soft({ state, width, colorScheme, faults, overflow }).toMatchObject({ faults: [], overflow: 0 })
    }
  }
}
