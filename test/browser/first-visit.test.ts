import { describe, expect, it } from 'vitest'
import { browserStage } from '#test/browser/console/harness.ts'
import { enter, furnish, open, type Sights, type Stop } from './tour.ts'

const stage = browserStage()

/** A slow mobile connection: 400 kbit/s, and 400 ms until a request's answer begins. */
const SLOW = { offline: false, latency: 400, downloadThroughput: 400_000 / 8, uploadThroughput: 400_000 / 8 }

/**
 * Most time until the largest part of a page is painted, in ms. A link to another screen takes two round trips more: its script
 * and its data are asked for after the modules. Locally the goal is 500 ms; a machine under load takes longer than the page does.
 */
const STOPS: (Stop & { limit: number })[] = [
  { surface: 'console', name: 'Home', place: '/', limit: 2_500 },
  { surface: 'console', name: 'Runs', place: '/runs', limit: 3_600 },
  { surface: 'console', name: 'Conversations', place: '/chat', limit: 3_600 },
  { surface: 'staff', name: 'Overview', place: '/', limit: 2_500 },
  { surface: 'portal', name: 'Apps', place: '/', limit: 2_500 },
]
const LOCAL_MS = 1_500

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
  it.each(STOPS)(
    'of $surface ($name) is there within $limit ms at 400 kbit/s with 400 ms of latency',
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
      const fast = await measure()
      await devtools.send('Network.emulateNetworkConditions', SLOW)
      const slow = await measure()
      if (process.env.TIMES) process.stdout.write(`${JSON.stringify({ stop: stop.name, fast, slow })}\n`)
      expect.soft(slow.ms, slow.what).toBeLessThan(stop.limit)
      expect.soft(fast.ms, fast.what).toBeLessThan(LOCAL_MS)
    },
    60_000,
  )
})
