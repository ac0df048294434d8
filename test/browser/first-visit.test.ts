import { describe, expect, it } from 'vitest'
import { browserStage } from '#test/browser/console/harness.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { enter, furnish, open, type Sights, type Stop } from './tour.ts'

const stage = browserStage()

/** A slow mobile connection: 400 kbit/s, and 400 ms until a request's answer begins. */
const SLOW = { offline: false, latency: 400, downloadThroughput: 400_000 / 8, uploadThroughput: 400_000 / 8 }

/**
 * Most time until the largest part of a page is painted, in ms. The goals are 2,500 on the slow connection and 500 locally; a machine
 * under load takes longer. `TIMES=1` prints what was measured.
 */
const SLOW_MS = 3_000
const LOCAL_MS = 1_500

const STOPS: Stop[] = [
  { surface: 'console', name: 'Home', place: '/' },
  { surface: 'console', name: 'Runs', place: '/runs' },
  { surface: 'console', name: 'Conversations', place: '/chat' },
  { surface: 'staff', name: 'Overview', place: '/' },
  { surface: 'portal', name: 'Apps', place: '/' },
]
/** Time of the largest contentful paint, and what it was. */
const LARGEST = `new Promise((resolve) => {
  let last
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) last = entry
  }).observe({ type: 'largest-contentful-paint', buffered: true })
  setTimeout(() => resolve({ ms: Math.round(last.startTime), what: last.element?.outerHTML.slice(0, 80) ?? '' }), 300)
})`

describe('the largest part of a page', () => {
  let sights: Sights
  it.each(sampleOf(STOPS, 4))(
    'of $surface ($name) is there within seconds at 400 kbit/s with 400 ms of latency',
    async (stop) => {
      sights ??= await furnish(stage)
      await enter(stage, stop.surface, sights)
      const { page } = stage
      const devtools = await page.context().newCDPSession(page)
      await devtools.send('Network.enable')
      await devtools.send('Network.setCacheDisabled', { cacheDisabled: true })
      const measure = async () => {
        await open(stage, stop)
        return (await page.evaluate(LARGEST)) as { ms: number; what: string }
      }
      // A machine that does something else for a moment gets a second look.
      const measureFor = async (most: number) => {
        const first = await measure()
        return first.ms < most ? first : measure()
      }
      const fast = await measureFor(LOCAL_MS)
      await devtools.send('Network.emulateNetworkConditions', SLOW)
      const slow = await measureFor(SLOW_MS)
      if (process.env.TIMES) process.stdout.write(`${JSON.stringify({ stop: stop.name, fast, slow })}\n`)
      expect.soft(slow.ms, slow.what).toBeLessThan(SLOW_MS)
      expect.soft(fast.ms, fast.what).toBeLessThan(LOCAL_MS)
    },
    240_000,
  )
})
