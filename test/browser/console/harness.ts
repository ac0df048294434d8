import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { expectAccessible, PICTURES } from '#test/browser/accessible.ts'
import { serveToBrowser } from '#test/browser/consent/page-server.ts'
import { startPlatform, succeeded, type TestPlatform } from '#testkit/platform.ts'
import { type Receiver, startReceiver } from '#testkit/receiver.ts'
import { sampleOf } from '#testkit/sampling.ts'
import { usingChromium } from '#testkit/using-chromium.ts'

/** Context of a test. */
export interface Stage {
  platform: TestPlatform
  /** Server that acts as the agents. */
  agent: Receiver
  /** Its live connections. */
  live: Awaited<ReturnType<typeof serveToBrowser>>['live']
  /** URL of the platform, below a path, as on a deployed stage. */
  url: string
  browser: Browser
  page: Page
  /** Further origins the page may request, besides the platform's. Any other request fails the test. */
  mayAsk: Set<string>
  /** Problems that fail the test at its end. A test that provokes some removes them. */
  problems: string[]
}

/**
 * Sets up a platform with running workers, a browser and a page per test. A script error, a violation of the page's
 * policy or a request to an unexpected origin fails the test.
 */
export const browserStage = (env: Record<string, string> = {}, options: BrowserContextOptions = {}): Stage => {
  const stage = {} as Stage
  const chromium = usingChromium()
  let server: Awaited<ReturnType<typeof serveToBrowser>>
  let working = true
  let work: Promise<void>
  beforeAll(async () => {
    stage.platform = await startPlatform(env)
    stage.agent = await startReceiver()
    const { clock, drain } = stage.platform
    clock.run()
    // The platform's workers and clock keep running, as they do outside of tests.
    work = (async () => {
      while (working) {
        await drain()
        await sleep(25)
      }
    })()
    server = await serveToBrowser(stage.platform, '/stage', true)
    stage.url = server.url
    stage.live = server.live
    stage.browser = chromium.browser
  })
  afterAll(async () => {
    working = false
    await work
    await Promise.all([server.close(), stage.agent.close()])
    await stage.platform.stop()
  })
  beforeEach(async () => {
    stage.agent.answer({ kind: 'answer', status: 202 })
    stage.problems = []
    stage.mayAsk = new Set([new URL(server.url).origin])
    stage.page = await newPage(stage, options)
  })
  afterEach(async () => {
    await stage.page.context().close()
    expect(stage.problems).toEqual([])
  })
  return stage
}

/** Sets up a stage for the console. */
export const consoleStage = (env?: Record<string, string>, options?: BrowserContextOptions): Stage =>
  browserStage(env, options)

const newPage = async (stage: Stage, options: BrowserContextOptions = {}): Promise<Page> => {
  const { problems } = stage
  const context = await stage.browser.newContext({ reducedMotion: 'reduce', ...options })
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (!['data:', 'blob:'].includes(protocol) && !stage.mayAsk.has(origin)) problems.push(`asked ${request.url()}`)
  })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) problems.push(message.text())
  })
  return page
}

export interface Person {
  token: string
  user: { id: string; name: string }
  workspace: { id: string; name: string }
}

let people = 0

/** Creates a user in their own workspace or in the given one. */
export const person = async ({ platform }: Stage, workspace?: string, role = 'owner'): Promise<Person> => {
  const n = ++people
  const body = { user: `Visitor ${n}`, workspace: workspace ?? `Home ${n}`, role }
  return succeeded(platform.call('POST', '/console/session', { body }))
}

/** Returns a function that calls the API as a person, and returns the body of the answer. */
export const callAs =
  (stage: Pick<Stage, 'platform'>) =>
  ({ token }: Pick<Person, 'token'>, method: string, path: string, body?: unknown) =>
    succeeded(stage.platform.call(method, path, { token, body }))

/** Opens a screen of the console as a signed-in user. */
export const openAs = async ({ page, url }: Stage, who: Person, place = '/'): Promise<void> => {
  const kept = {
    token: who.token,
    until: Date.now() + 3_600_000,
    name: who.user.name,
    workspace: who.workspace.id,
    link: '',
  }
  await page.addInitScript(
    `if (!sessionStorage.getItem('seeded')) { sessionStorage.setItem('seeded', '1'); sessionStorage.setItem('console-session', ${JSON.stringify(JSON.stringify(kept))}) }`,
  )
  await page.goto(`${url}/app#${place}`)
}

/** Navigates to a screen without reloading the page. */
export const visit = async (page: Page, place: string): Promise<void> => {
  await page.evaluate(`location.hash = ${JSON.stringify(place)}`)
}

/** Screens to visit, each with its name, its heading and a text that it shows once it is complete. */
type Screen = [name: string, place: string, title: string | RegExp, ready: string | RegExp]

/**
 * Visits screens, one in three by the seed, and expects each to be accessible and to have no image but logos. Pictures are taken of all.
 * @param prefix of the screens' names
 */
export const expectScreens = async (page: Page, prefix: string, screens: readonly Screen[]): Promise<void> => {
  for (const [name, place, title, ready] of PICTURES ? screens : sampleOf(screens, 3)) {
    await visit(page, place)
    await heading(page, title).waitFor()
    await page.locator('main').getByText(ready).first().waitFor()
    await expect.poll(() => page.locator('main .skeleton').count()).toBe(0)
    await expectAccessible(page, `${prefix}${name}`)
    expect(await page.locator('main img:not([src*="/console/logos/"])').count()).toBe(0)
  }
}

/** Presses a button twice, before the first press can have an effect. */
export const twice = (button: Locator): Promise<void> =>
  button.evaluate((element: { click(): void }) => {
    element.click()
    element.click()
  })

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 })
