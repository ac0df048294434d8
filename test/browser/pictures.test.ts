import { mkdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { browserStage } from '#test/browser/console/harness.ts'
import { PICTURES, takePicture } from './accessible.ts'
import { enter, furnish, open, type Sights, type Stop, stopsOf } from './tour.ts'

const WIDTHS = { phone: 390, desktop: 1_280 } as const

describe.runIf(PICTURES)('pictures of every page', () => {
  const stage = browserStage()
  let sights: Sights
  it.each(['console', 'staff', 'portal'] satisfies Stop['surface'][])(
    'of the %s are taken in both themes and two widths, without anything beyond the right edge',
    async (surface) => {
      sights ??= await furnish(stage)
      await mkdir(PICTURES ?? '', { recursive: true })
      await enter(stage, surface, sights)
      const { page } = stage
      for (const stop of await stopsOf(surface, sights)) {
        await open(stage, stop)
        for (const [name, width] of Object.entries(WIDTHS)) {
          await page.setViewportSize({ width, height: 900 })
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
            await takePicture(page, `${stop.name}-${name}-${colorScheme}`, { fullPage: true })
          }
          const beyond = await page.evaluate(
            'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)',
          )
          expect.soft({ page: stop.name, name, beyond }).toMatchObject({ beyond: 0 })
        }
      }
    },
    600_000,
  )
})
