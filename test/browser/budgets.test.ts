import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { browserStage } from '#test/browser/console/harness.ts'
import { isSampled } from '#testkit/sampling.ts'
import { enter, furnish, open, type Sights, type Stop, stopsOf } from './tour.ts'

const stage = browserStage()

/** Most script that a page may load, with all that a visitor sees on it open, in bytes: as it is, and compressed. */
const LIMIT = { script: 100_000, compressed: 40_000 }

/**
 * Limits of pages that show more. A run shows what its model used, tokens by kind and dollars, and its questions as Markdown. A conversation keeps
 * focus and header in sight, begins others, and keeps what an agent wrote before it was stopped. The kilobyte that recovers a
 * page from a lost connection is in all pages, and so is the shortcut that leads to the inbox.
 */
const RAISED: Readonly<Record<string, Partial<typeof LIMIT>>> = {
  'console-runs-id': { script: 102_000, compressed: 43_000 },
  'console-chat-id': { compressed: 42_000 },
}

/** Pages nearest to the limits, which every run weighs. `SIZES=1` prints the weight of each page. */
const HEAVIEST = ['console-runs-id', 'console-start', 'console-chat-id']

const isDrawn = ({ name }: Stop, n: number): boolean => HEAVIEST.includes(name) || isSampled(n, 6)

const sizes = new Map<string, { script: number; compressed: number }>()

/** Adds up the script that a page loads, and lists the data that it asks for twice. */
const weigh = (page: Page) => {
  const loaded = new Set<string>()
  const asked = new Set<string>()
  const repeated: string[] = []
  let isLeaving = false
  // Not when the next document is asked for: until it is there, the one before it may still load something.
  page.on('framenavigated', () => {
    // A page that changes its address stays the same document.
    if (!isLeaving) return
    isLeaving = false
    asked.clear()
    repeated.length = 0
  })
  page.on('request', (request) => {
    const url = request.url()
    if (request.resourceType() === 'script') loaded.add(url)
    if (request.isNavigationRequest()) isLeaving = true
    if (request.resourceType() !== 'fetch' || request.method() !== 'GET') return
    if (asked.has(url)) repeated.push(url)
    asked.add(url)
  })
  return {
    forget: () => loaded.clear(),
    repeated,
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

/** Viewport of a window of 1280 × 800 at 200 % zoom. */
const ZOOMED = { width: 640, height: 400 }

/** Lists what reaches beyond the window's edge, if the page can be scrolled sideways. */
const BEYOND = `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth ? [] :
  [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth)
    .map((element) => element.outerHTML.slice(0, 100)))(document.documentElement)`

describe('every page', () => {
  let sights: Sights
  it.each(['console', 'staff', 'portal'] satisfies Stop['surface'][])(
    'of the %s has at most 100 KB of script, 40 KB compressed, uses all that its head asks for, and fits at twice its size',
    async (surface) => {
      sights ??= await furnish(stage)
      await enter(stage, surface, sights)
      const scales = weigh(stage.page)
      for (const stop of (await stopsOf(surface, sights)).filter(isDrawn)) {
        await open(stage, stop, scales.forget)
        const { script, compressed } = await scales.weight()
        const row = `${stop.name.padEnd(36)} ${String(script).padStart(7)} ${String(compressed).padStart(6)}\n`
        if (process.env.SIZES) process.stdout.write(row)
        const most = { ...LIMIT, ...RAISED[stop.name] }
        expect.soft({ page: stop.name, script, fits: script <= most.script }).toMatchObject({ fits: true })
        expect.soft({ page: stop.name, compressed, fits: compressed <= most.compressed }).toMatchObject({ fits: true })
        expect.soft(script, stop.name).toBeGreaterThan(10_000)
        const unused = () => stage.page.evaluate('[...(window.early?.keys() ?? [])]')
        await expect.poll(unused, { message: stop.name }).toEqual([])
        if (stop.name === 'console-start') expect.soft(scales.repeated, 'asked for twice').toEqual([])
        const wide = stage.page.viewportSize() ?? ZOOMED
        await stage.page.setViewportSize(ZOOMED)
        await expect.poll(() => stage.page.evaluate(BEYOND), { message: stop.name }).toEqual([])
        await stage.page.setViewportSize(wide)
      }
    },
    240_000,
  )

  it('of consent, whose script is inline, has at most as much', async () => {
    const { text } = await stage.platform.call('GET', '/oauth/consent?tg=none')
    const script = [...text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, inline]) => inline).join('')
    expect(script.length).toBeGreaterThan(10_000)
    expect(script.length).toBeLessThanOrEqual(LIMIT.script)
    expect(gzipSync(script).length).toBeLessThanOrEqual(LIMIT.compressed)
  })
})
