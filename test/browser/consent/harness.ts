import type { BrowserContextOptions, Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type Person, personOf } from '#local/telegram/person.ts'
import { createSigner } from '#local/telegram/signing.ts'
import { actors, REDIRECT } from '#testkit/oauth.ts'
import { startPlatform, TEST_BOT, type TestPlatform } from '#testkit/platform.ts'
import { usingChromium } from '#testkit/using-chromium.ts'
import { serveToBrowser } from './page-server.ts'

export const BOT = { username: 'platform_bot', url: 'https://t.me/platform_bot', login_widget: true }

/** Context of a test. */
export interface Stage {
  platform: TestPlatform
  act: ReturnType<typeof actors>
  /** URL of the platform, below a path, as on a deployed stage. */
  url: string
  page: Page
  /** Further origins the page may request, besides the platform's and the client's. Any other request fails the test. */
  mayAsk: Set<string>
  /** Problems that fail the test at its end. A test that provokes some removes them. */
  problems: string[]
}

/**
 * Sets up a platform, a browser and a page per test. A script error, a violation of the page's policy or a request to an
 * unexpected origin fails the test.
 */
export const consentStage = (env: Record<string, string> = {}, options: BrowserContextOptions = {}): Stage => {
  const stage = {} as Stage
  const chromium = usingChromium()
  let server: Awaited<ReturnType<typeof serveToBrowser>>
  beforeAll(async () => {
    stage.platform = await startPlatform(env)
    stage.act = actors(stage.platform)
    server = await serveToBrowser(stage.platform, '/stage')
    stage.url = server.url
  })
  afterAll(async () => {
    await server.close()
    await stage.platform.stop()
  })
  beforeEach(async () => {
    stage.platform.clock.advance(60_000)
    const problems: string[] = []
    stage.problems = problems
    const context = await chromium.browser.newContext(options)
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

/** Opens a link and signs in locally as a new user. */
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

/** Signs data as Telegram does for the platform's bot. */
export const signer = ({ clock }: TestPlatform) => createSigner(TEST_BOT.token, () => clock.now())

let persons = 1_000
export const someone = (first_name = `Person ${++persons}`): Person => personOf({ id: ++persons, first_name })

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 })
