import { describe, expect, it, onTestFinished } from 'vitest'
import { expectFocus } from '#test/browser/keyboard.ts'
import { installed } from '#testkit/fixtures.ts'
import { callAs, consoleStage, heading, openAs, type Person, person } from './harness.ts'

const stage = consoleStage()

const createTask = (who: Person, title: string) =>
  callAs(stage)(who, 'POST', '/console/tasks', { title, description: '' })

/** Returns when the page's next connection has its first answer. Called before what makes the page connect. */
const untilAnswered = async (): Promise<void> => {
  const socket = await stage.page.waitForEvent('websocket')
  await socket.waitForEvent('framereceived')
}

/** The platform offers no live connections for the rest of the test. */
const withoutConnections = (): void => {
  const { settings } = stage.platform.deps
  const { socketsUrl } = settings
  settings.socketsUrl = undefined
  onTestFinished(() => {
    settings.socketsUrl = socketsUrl
  })
}

/** Counts the page's polls. */
const polls = () => {
  const seen: string[] = []
  stage.page.on('request', (request) => {
    if (request.url().includes('/console/updates')) seen.push(request.url())
  })
  return seen
}

describe('an open page', () => {
  it('shows a change made elsewhere without reload or poll, over one live connection', async () => {
    const { page } = stage
    const who = await person(stage)
    const other = await person(stage, who.workspace.name, 'member')
    const connections: string[] = []
    page.on('websocket', (socket) => connections.push(socket.url()))
    const asked = polls()
    const answered = untilAnswered()
    await openAs(stage, who, '/tasks')
    await heading(page, 'Tasks').waitFor()
    await answered
    await createTask(other, 'Count the stock')
    await page.getByText('Count the stock').waitFor()
    await createTask(other, 'Order paper')
    await page.getByText('Order paper').waitFor()
    expect(connections).toHaveLength(1)
    expect(connections[0]).not.toContain('token')
    // The first answer, which says whether the platform can be reached.
    expect(asked.length).toBeLessThanOrEqual(1)
  })

  it('reads the counters of changes before what they count, so that no change between the two is missed', async () => {
    const { page } = stage
    const who = await person(stage)
    const seen: string[] = []
    const note = (what: string, url: string): void => {
      const [, path] = /\/console\/(updates|inbox|tasks)\b/.exec(url) ?? []
      if (path) seen.push(`${what} ${path}`)
    }
    page.on('request', (request) => note('asks for', request.url()))
    page.on('response', (response) => note('has', response.url()))
    await openAs(stage, who, '/tasks')
    await page.getByText('No tasks yet').first().waitFor()
    await expect.poll(() => seen).toEqual(expect.arrayContaining(['has inbox', 'has tasks']))
    expect(seen.slice(0, 2)).toEqual(['asks for updates', 'has updates'])
  })

  it('whose session has expired asks for nothing else with it', async () => {
    const { page } = stage
    const who = await person(stage)
    await stage.platform.call('DELETE', '/console/session', { token: who.token })
    const signIn = heading(page, 'Sign in')
    await page.route('**/console/updates', async (route) => {
      await signIn.waitFor()
      await route.continue()
    })
    const answered = page.waitForResponse('**/console/updates')
    await openAs(stage, who, '/tasks')
    await (await answered).finished()
    expect(await page.evaluate('[...window.early.keys()]')).toEqual([])
  })

  it('that couldn’t read the counters at first loads everything again with the first ones that it gets', async () => {
    const { page } = stage
    withoutConnections()
    const who = await person(stage)
    await page.route('**/console/updates', (route) => route.abort())
    const failed = page.waitForEvent('requestfailed')
    await openAs(stage, who, '/tasks')
    await failed
    await page.getByText('No tasks yet').first().waitFor()
    await createTask(who, 'Count the stock')
    await page.unroute('**/console/updates')
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    await page.getByText('Count the stock').waitFor()
  })

  it('connects again after its connection was lost, and shows what happened in the meantime', async () => {
    const { page } = stage
    const who = await person(stage)
    const answered = untilAnswered()
    await openAs(stage, who, '/tasks')
    await answered
    await heading(page, 'Tasks').waitFor()
    const again = page.waitForEvent('websocket')
    stage.live()?.disconnect()
    await createTask(who, 'Count the stock')
    await again
    await page.getByText('Count the stock').waitFor()
  })

  it('keeps the focus when a change from elsewhere overtakes the reload after a person’s own', async () => {
    const { page, url, platform } = stage
    const who = await person(stage)
    await installed(platform.deps, { workspaceId: who.workspace.id })
    const news: (() => void)[] = []
    let told = 0
    let isHeld = false
    await page.routeWebSocket(/./, (socket) => {
      socket.connectToServer().onMessage((message) => {
        if (isHeld) return news.push(() => socket.send(message))
        socket.send(message)
        told += 1
      })
    })
    await openAs(stage, who, '/access')
    const revoke = page.getByRole('button', { name: 'Revoke access', exact: true })
    await revoke.waitFor()
    await expect.poll(() => told).toBeGreaterThan(0)
    isHeld = true
    const reloads: (() => Promise<unknown>)[] = []
    await page.route(`${url}/console/grants`, async (route) => {
      const response = await route.fetch()
      reloads.push(async () => {
        const arrives = page.waitForResponse((one) => one.request() === route.request())
        await route.fulfill({ response })
        await (await arrives).finished()
        // Two frames later, the page shows what it learned.
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      })
    })
    await revoke.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke access' }).click()
    await expect.poll(() => [reloads.length, news.length]).toEqual([1, 1])
    news[0]?.()
    await expect.poll(() => reloads.length).toBe(2)
    for (const finish of reloads) await finish()
    await page.getByText('No external apps have access.').waitFor()
    await expectFocus(page, 'heading', 'Connected apps')
  })

  it('that meets the rate limit in the background reloads by itself after Retry-After, once somebody looks at it', async () => {
    const { page } = stage
    const who = await person(stage)
    const answered = untilAnswered()
    await page.clock.install()
    await openAs(stage, who, '/tasks')
    await answered
    await createTask(who, 'Count the stock')
    await page.getByText('Count the stock').waitFor()
    let refusals = 1
    const asked: number[] = []
    const tasks = /\/console\/tasks(\?|$)/
    await page.route(tasks, (route) => {
      const status = refusals-- > 0 ? 429 : 200
      asked.push(status)
      const error = { code: 'rate_limited', message: 'Too many requests.', fix: '', request_id: 'req_1', details: {} }
      return status === 200
        ? route.continue()
        : route.fulfill({ status, headers: { 'retry-after': '20' }, json: { error } })
    })
    const hide = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
    await createTask(who, 'Order paper')
    await expect.poll(() => asked).toEqual([429])
    await page.clock.fastForward(19_000)
    expect(asked).toEqual([429])
    await page.getByText('Count the stock').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.clock.fastForward(21_000)
    await page.getByText('Order paper').waitFor()
    expect(asked).toEqual([429, 200])

    refusals = 1
    await hide(true)
    await createTask(who, 'Water the plants')
    await expect.poll(() => asked).toEqual([429, 200, 429])
    await page.clock.fastForward(120_000)
    expect(asked, 'while nobody looks').toEqual([429, 200, 429])
    await hide(false)
    await page.getByText('Water the plants').waitFor()
    expect(asked).toEqual([429, 200, 429, 200])
  })

  it('asks for the sign-in when its session ends elsewhere', async () => {
    const { page } = stage
    const who = await person(stage)
    const answered = untilAnswered()
    await openAs(stage, who, '/tasks')
    await answered
    await stage.platform.call('DELETE', '/console/session', { token: who.token })
    await heading(page, 'Sign in').waitFor()
  })

  it('polls while the platform offers no connection', async () => {
    const { page } = stage
    withoutConnections()
    const who = await person(stage)
    await page.clock.install()
    const asked = polls()
    const first = page.waitForResponse((response) => response.url().includes('/console/updates'))
    await openAs(stage, who, '/tasks')
    await heading(page, 'Tasks').waitFor()
    await (await first).finished()
    await createTask(who, 'Count the stock')
    await page.clock.fastForward(29_000)
    expect(asked).toHaveLength(1)
    // The page sets its timer once it has read the answer, and a change is reported a moment after it was made.
    await expect
      .poll(async () => {
        await page.clock.fastForward(2_000)
        return page.getByText('Count the stock').isVisible()
      })
      .toBe(true)
    expect(asked.length).toBeGreaterThan(1)
  })
})
