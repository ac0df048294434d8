import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { furnish, stopsOf } from '#test/browser/tour.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { consoleStage, heading, openAs, person, visit } from './harness.ts'

const stage = consoleStage()

/** Time without a connection. */
const LOST_MS = 4_000

/** Proxy between the page and the platform, which can refuse connections. */
const startProxy = async () => {
  const open = new Set<Socket>()
  let isRefusing = false
  const server = createServer((socket) => {
    if (isRefusing) return socket.destroy()
    const { port } = new URL(stage.url)
    const onward = connect(Number(port), '127.0.0.1')
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      open.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    origin: `http://127.0.0.1:${port}`,
    refuse: () => {
      isRefusing = true
      for (const socket of open) socket.destroy()
    },
    accept: () => {
      isRefusing = false
    },
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Waits until the page has put all its parts into the browser's cache. */
const untilAllLoaded = (page: Page): Promise<unknown> => page.waitForLoadState('networkidle')

describe('a page whose connection is refused for four seconds', () => {
  let proxy: Awaited<ReturnType<typeof startProxy>>
  beforeAll(async () => {
    proxy = await startProxy()
  })
  afterEach(() => proxy.accept())
  afterAll(() => proxy.close())

  const openThroughProxy = async (who: Parameters<typeof openAs>[1], place = '/') => {
    stage.mayAsk.add(proxy.origin)
    // Without idle time, no part is there before its screen is visited.
    await openAs({ ...stage, url: `${proxy.origin}${new URL(stage.url).pathname}` }, who, place)
  }

  const withoutIdleTime = (page: Page) => page.addInitScript('window.requestIdleCallback = () => 0')

  it('shows every screen that was opened in that time, by itself', async () => {
    const { page } = stage
    const sights = await furnish(stage)
    await withoutIdleTime(page)
    await openThroughProxy(sights.who, '/more')
    await heading(page, 'More').waitFor()
    // The gallery shows what other screens show before they are complete.
    const stops = sampleOf(
      (await stopsOf('console', sights)).filter(({ place }) => place !== '/gallery'),
      3,
    )
    await page.evaluate("window.here = 'still'")
    proxy.refuse()
    const lost = sleep(LOST_MS)
    for (const { place } of stops) {
      await visit(page, place)
      await page.locator('main h1').first().waitFor()
    }
    await lost
    proxy.accept()
    for (const { name, place } of stops) {
      await visit(page, place)
      await expect.poll(() => page.locator('main .skeleton').count(), { message: name, timeout: 15_000 }).toBe(0)
      await page.locator('main h1').first().waitFor()
      await expect
        .poll(() => page.locator('main').getByText('be loaded').count(), { message: name, timeout: 15_000 })
        .toBe(0)
      await expect
        .poll(() => page.locator('main').getByText('No connection.').count(), { message: name, timeout: 15_000 })
        .toBe(0)
    }
    expect(await page.evaluate('window.here')).toBe('still')
  }, 240_000)

  it('keeps the place and what was written', async () => {
    const { page } = stage
    await withoutIdleTime(page)
    await openThroughProxy(await person(stage), '/tasks')
    await page.getByRole('button', { name: 'New task' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New task' })
    await dialog.getByLabel('Title').fill('Count the mugs')
    proxy.refuse()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('No connection.').waitFor()
    await sleep(LOST_MS)
    proxy.accept()
    expect(await dialog.getByLabel('Title').inputValue()).toBe('Count the mugs')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await heading(page, 'Count the mugs').waitFor()
  })

  it('opens screens from what it loaded while the browser was idle', async () => {
    const { page } = stage
    await openThroughProxy(await person(stage), '/more')
    await heading(page, 'More').waitFor()
    await untilAllLoaded(page)
    proxy.refuse()
    await visit(page, '/settings')
    await heading(page, 'Settings').waitFor()
    proxy.accept()
    await page.getByLabel('Name', { exact: true }).first().waitFor()
  })
})
