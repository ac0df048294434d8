import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { launchChromium } from '#test/browser/chromium.ts'
import { serveToBrowser } from '#test/browser/consent/page-server.ts'
import { startPlatform, type TestPlatform } from '#test/support/platform.ts'
import { type Receiver, startReceiver } from '#test/support/receiver.ts'
import { buildConsole } from '#web/console/build.ts'

/** What one test has at hand. */
export interface Stage {
  platform: TestPlatform
  /** Where agents answer. */
  agent: Receiver
  /** The platform's address, below a path as a stage's has one. */
  url: string
  browser: Browser
  page: Page
  /** Origins beyond the platform's that the page may ask; any other request fails the test. */
  mayAsk: Set<string>
  /** What fails the test at its end; a test that provokes some takes them out. */
  problems: string[]
}

/**
 * A whole platform at work, a browser, and for each test a page of its own. A script error, a breach of the page's policy, or
 * a request to anywhere unexpected fails the test.
 */
export const browserStage = (
  build: () => Promise<void>,
  env: Record<string, string> = {},
  options: BrowserContextOptions = {},
): Stage => {
  const stage = {} as Stage
  let server: Awaited<ReturnType<typeof serveToBrowser>>
  let working = true
  let work: Promise<void>
  beforeAll(async () => {
    await build()
    stage.platform = await startPlatform(env)
    stage.agent = await startReceiver()
    const { clock, drain } = stage.platform
    clock.advance(Date.now() - clock.now())
    // The platform's workers and its clock go on by themselves, as they do outside of tests.
    work = (async () => {
      while (working) {
        await drain()
        clock.advance(Math.max(0, Date.now() - clock.now()))
        await sleep(25)
      }
    })()
    server = await serveToBrowser(stage.platform, '/stage')
    stage.url = server.url
    stage.browser = await launchChromium()
  })
  afterAll(async () => {
    working = false
    await work
    await stage.browser.close()
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

/** A stage for the console. */
export const consoleStage = (env?: Record<string, string>, options?: BrowserContextOptions): Stage =>
  browserStage(() => buildConsole(join(import.meta.dirname, '../../../dist/console-assets')), env, options)

const newPage = async (stage: Stage, options: BrowserContextOptions = {}): Promise<Page> => {
  const { problems } = stage
  const context = await stage.browser.newContext({ reducedMotion: 'reduce', ...options })
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (!['data:', 'blob:'].includes(protocol) && !stage.mayAsk.has(origin)) problems.push(`asked ${request.url()}`)
  })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
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

/** Somebody in a workspace: their own, or one that is there. */
export const person = async ({ platform }: Stage, workspace?: string, role = 'owner'): Promise<Person> => {
  const n = ++people
  const body = { user: `Visitor ${n}`, workspace: workspace ?? `Home ${n}`, role }
  const answer = await platform.call('POST', '/console/session', { body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}

/** Opens a place of the console as somebody who has signed in already. */
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

/** Goes to a place by its address, without loading the page again. */
export const visit = async (page: Page, place: string): Promise<void> => {
  await page.evaluate(`location.hash = ${JSON.stringify(place)}`)
}

/** Presses a button twice, faster than anything can come of the first time. */
export const twice = (button: Locator): Promise<void> =>
  button.evaluate((element: { click(): void }) => {
    element.click()
    element.click()
  })

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 })

const axe = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Faults that axe finds, and text that runs out of the window, in both schemes on a phone and on a desk. */
export const expectAccessible = async (page: Page, state: string): Promise<void> => {
  if (!(await page.evaluate('Boolean(window.axe)'))) await page.evaluate(await axe)
  for (const width of [360, 1_280]) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const faults = await page.evaluate(
        `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map((n) => n.html).join()))`,
      )
      const overflow = await page.evaluate(
        'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)',
      )
      if (process.env.SCREENSHOTS) {
        const path = `${process.env.SCREENSHOTS}/${state}-${width}-${colorScheme}.png`
        await page.screenshot({ path, fullPage: true })
      }
      expect.soft({ state, width, colorScheme, faults, overflow }).toMatchObject({ faults: [], overflow: 0 })
    }
  }
}
