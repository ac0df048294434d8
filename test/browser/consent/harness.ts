import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type Person, personOf } from '#local/telegram/person.ts'
import { createSigner } from '#local/telegram/signing.ts'
import { launchChromium } from '#test/browser/chromium.ts'
import { actors, REDIRECT } from '#test/functions/oauth/support.ts'
import { startPlatform, TEST_BOT, type TestPlatform } from '#test/support/platform.ts'
import { serveToBrowser } from './page-server.ts'

export const BOT = { username: 'platform_bot', url: 'https://t.me/platform_bot', login_widget: true }

/** What one test has at hand. */
export interface Stage {
  platform: TestPlatform
  act: ReturnType<typeof actors>
  /** The platform's address, below a path as a stage's has one. */
  url: string
  page: Page
  /** Origins beyond the platform's and the client's that the page may ask; any other request fails the test. */
  mayAsk: Set<string>
  /** What fails the test at its end; a test that provokes some takes them out. */
  problems: string[]
}

/**
 * A platform, a browser and for each test a page of its own. A script error, a breach of the page's policy, or a request
 * to anywhere unexpected fails the test.
 */
export const consentStage = (env: Record<string, string> = {}, options: BrowserContextOptions = {}): Stage => {
  const stage = {} as Stage
  let server: Awaited<ReturnType<typeof serveToBrowser>>
  let browser: Browser
  beforeAll(async () => {
    stage.platform = await startPlatform(env)
    stage.act = actors(stage.platform)
    server = await serveToBrowser(stage.platform, '/stage')
    stage.url = server.url
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser.close()
    await server.close()
    await stage.platform.stop()
  })
  beforeEach(async () => {
    stage.platform.clock.advance(60_000)
    const problems: string[] = []
    stage.problems = problems
    const context = await browser.newContext(options)
    stage.mayAsk = new Set([new URL(server.url).origin, new URL(REDIRECT).origin])
    context.on('request', (request) => {
      const { origin, protocol } = new URL(request.url())
      if (protocol !== 'data:' && !stage.mayAsk.has(origin)) problems.push(`asked ${request.url()}`)
    })
    await context.route(`${REDIRECT}**`, (route) => route.fulfill({ body: 'back at the client' }))
    stage.page = await context.newPage()
    stage.page.on('pageerror', (error) => problems.push(error.message))
    stage.page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) problems.push(message.text())
    })
  })
  afterEach(async () => {
    await stage.page.context().close()
    expect(stage.problems).toEqual([])
  })
  return stage
}

let people = 0

/** Opens a link and signs in there as somebody new, the local way. */
export const openAs = async ({ page, url }: Stage, tg: string, place?: string) => {
  const n = ++people
  await page.goto(`${url}/oauth/consent?tg=${tg}`)
  return signInHere(page, `visitor-${n}`, place ?? `home-${n}`)
}

export const signInHere = async (page: Page, user: string, place: string) => {
  await page.getByLabel('Person', { exact: true }).fill(user)
  await page.getByLabel(/^Workspace/).fill(place)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return { user, workspace: place }
}

export const json = (route: Route, body: unknown, status = 200, headers: Record<string, string> = {}) =>
  route.fulfill({ status, contentType: 'application/json', headers, body: JSON.stringify(body) })

export const refuse = (route: Route, status: number, code: string, request_id = 'req_test') =>
  json(route, { error: { code, message: `Refused: ${code}.`, fix: 'Do something else.', request_id } }, status)

/** Signs as the messaging app does for the platform's bot. */
export const signer = ({ clock }: TestPlatform) => createSigner(TEST_BOT.token, () => clock.now())

let persons = 1_000
export const someone = (first_name = `Person ${++persons}`): Person => personOf({ id: ++persons, first_name })

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 })

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Faults that axe finds, and text that runs out of the window, in both schemes on a phone and on a desk. */
export const expectAccessible = async (page: Page, state: string): Promise<void> => {
  for (const width of [360, 1_280]) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const faults = await page.evaluate(
        `${await axe}; axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map((n) => n.html).join()))`,
      )
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      expect({ state, width, colorScheme, faults, overflow }).toMatchObject({ faults: [], overflow: 0 })
      if (process.env.SHOTS)
        await page.screenshot({ path: `${process.env.SHOTS}/${state}-${width}-${colorScheme}.png`, fullPage: true })
    }
  }
}
