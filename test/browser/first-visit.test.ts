import type { CDPSession } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { browserStage } from '#test/browser/console/harness.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { enter, furnish, open, type Sights, type Stop } from './tour.ts'

const stage = browserStage()

/** A slow mobile connection: 400 kbit/s, and 400 ms until a request's answer begins. */
const BYTES_PER_MS = 400 / 8
const LATENCY_MS = 400

/**
 * Most time until the largest part of a page can be painted on the slow connection, in ms, as far as the connection decides it: its
 * bytes, and the answers that had to be waited for one after another. `TIMES=1` prints it. What the page fetches when it is idle counts
 * if it began before the paint, which is up to 10 KB on a slow machine, so the limit has room for it.
 */
const SLOW_MS = 3_800

const STOPS: Stop[] = [
  { surface: 'console', name: 'Home', place: '/' },
  { surface: 'console', name: 'Runs', place: '/runs' },
  { surface: 'console', name: 'Conversations', place: '/chat' },
  { surface: 'staff', name: 'Overview', place: '/' },
  { surface: 'portal', name: 'Apps', place: '/' },
]
/** Time of the largest contentful paint, in seconds since 1970, and what it was. */
const LARGEST = `new Promise((resolve) => {
  let last
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) last = entry
  }).observe({ type: 'largest-contentful-paint', buffered: true })
  setTimeout(() => resolve({
    at: (performance.timeOrigin + last.startTime) / 1_000,
    what: last.element?.outerHTML.slice(0, 80) ?? '',
  }), 300)
})`

interface Loaded {
  url: string
  /** Seconds since 1970. */
  sentAt: number
  /** Answers before it in a row, with its own. */
  depth: number
  bytes: number
}

/** Notes what the page loads, and what each request waited for: the document or the script that asked for it. */
const observe = (devtools: CDPSession): Loaded[] => {
  const loaded = new Map<string, Loaded>()
  const list: Loaded[] = []
  devtools.on('Network.requestWillBeSent', ({ requestId, request, initiator, wallTime, type }) => {
    if (type === 'Document') list.length = 0
    const frames = initiator.stack?.callFrames ?? []
    const from = [initiator.url, ...frames.map(({ url }) => url)]
    const parents = list.filter(({ url }) => from.includes(url))
    // A module that is imported while the page runs names none. The document's own scripts import it, with all that it needs.
    const asking = parents.length > 0 ? parents : list.filter(({ url, depth }) => depth === 2 && url.endsWith('.js'))
    const depth = Math.max(0, ...asking.map((one) => one.depth)) + 1
    const one = { url: request.url, sentAt: wallTime, depth, bytes: 0 }
    loaded.set(requestId, one)
    list.push(one)
  })
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const one = loaded.get(requestId)
    if (one) one.bytes = encodedDataLength
  })
  return list
}

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
      // Within the visit, it caches as always: a part's files are fetched, and then imported from the cache.
      await devtools.send('Network.clearBrowserCache')
      const all = observe(devtools)
      await open(stage, stop)
      const { at, what } = (await page.evaluate(LARGEST)) as { at: number; what: string }
      await devtools.detach()
      const loaded = all.filter(({ sentAt }) => sentAt < at)
      const bytes = loaded.reduce((sum, one) => sum + one.bytes, 0)
      // An import of what is there already waits for no answer.
      const depth = Math.max(...loaded.filter((one) => one.bytes > 0).map((one) => one.depth))
      const ms = Math.round(depth * LATENCY_MS + bytes / BYTES_PER_MS)
      if (process.env.TIMES) process.stdout.write(`${JSON.stringify({ stop: stop.name, ms, depth, bytes, what })}\n`)
      expect(depth, what).toBeGreaterThan(1)
      expect(bytes, what).toBeGreaterThan(10_000)
      expect(ms, what).toBeLessThan(SLOW_MS)
    },
  )
})
