import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { browserStage } from '#test/browser/console/harness.ts'
import { enter, furnish, open, type Sights, type Stop, stopsOf } from './tour.ts'

const stage = browserStage()

/** Most script that a page may load, with all that a visitor sees on it open, in bytes: as it is, and compressed. */
const LIMIT = { script: 100_000, compressed: 40_000 }

const sizes = new Map<string, { script: number; compressed: number }>()

/** Adds up the script that a page loads. */
const weigh = (page: Page) => {
  const loaded = new Set<string>()
  page.on('request', (request) => {
    if (request.resourceType() === 'script') loaded.add(request.url())
  })
  return {
    forget: () => loaded.clear(),
    weight: async () => {
      const total = { script: 0, compressed: 0 }
      for (const url of loaded) {
        const known = sizes.get(url)
        const bytes = known ? undefined : Buffer.from(await (await fetch(url)).arrayBuffer())
        const size = known ?? { script: bytes?.length ?? 0, compressed: bytes ? gzipSync(bytes).length : 0 }
        sizes.set(url, size)
        total.script += size.script
        total.compressed += size.compressed
      }
      return total
    },
  }
}

describe('the script of every page', () => {
  let sights: Sights
  it.each(['console', 'staff', 'portal'] satisfies Stop['surface'][])(
    'of the %s is at most 100 KB, and 40 KB compressed',
    async (surface) => {
      sights ??= await furnish(stage)
      await enter(stage, surface, sights)
      const scales = weigh(stage.page)
      for (const stop of await stopsOf(surface, sights)) {
        await open(stage, stop, scales.forget)
        const { script, compressed } = await scales.weight()
        const row = `${stop.name.padEnd(36)} ${String(script).padStart(7)} ${String(compressed).padStart(6)}\n`
        if (process.env.SIZES) process.stdout.write(row)
        expect.soft({ page: stop.name, script, fits: script <= LIMIT.script }).toMatchObject({ fits: true })
        expect.soft({ page: stop.name, compressed, fits: compressed <= LIMIT.compressed }).toMatchObject({ fits: true })
        expect.soft(script, stop.name).toBeGreaterThan(10_000)
      }
    },
    240_000,
  )

  it('of the consent page, which is inline, is as well', async () => {
    const { text } = await stage.platform.call('GET', '/oauth/consent?tg=none')
    const script = [...text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, inline]) => inline).join('')
    expect(script.length).toBeGreaterThan(10_000)
    expect(script.length).toBeLessThanOrEqual(LIMIT.script)
    expect(gzipSync(script).length).toBeLessThanOrEqual(LIMIT.compressed)
  })
})
