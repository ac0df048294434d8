import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { personOf } from '#local/telegram/person.ts'
import { createSigner } from '#local/telegram/signing.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { TEST_BOT } from '#testkit/platform.ts'
import { consoleStage, heading, visit } from './harness.ts'

const stage = consoleStage()

let persons = 5_000
/** Returns init data signed as Telegram does for the platform's bot. */
const initData = (more: Record<string, string> = {}, first_name = 'Ann'): string => {
  const signer = createSigner(TEST_BOT.token, () => stage.platform.clock.now())
  return signer.initData(personOf({ id: ++persons, first_name }), more)
}

const NIGHT = {
  bg_color: '#17212b',
  secondary_bg_color: '#232e3c',
  text_color: '#f5f5f5',
  subtitle_text_color: '#b1c3d5',
  link_color: '#6ab3f3',
}

const address = (data: string, theme?: object, url = stage.url): string => {
  const fragment = new URLSearchParams({ tgWebAppData: data, tgWebAppVersion: '9.0', tgWebAppPlatform: 'android' })
  if (theme) fragment.set('tgWebAppThemeParams', JSON.stringify(theme))
  return `${url}/app/mini-app#${fragment}`
}

/** Fakes the bridge of Telegram's web view. Returns the events posted so far. */
const bridge = async (page: Page): Promise<() => Promise<[string, unknown][]>> => {
  await page.addInitScript(
    'window.told = []; window.TelegramWebviewProxy = { postEvent: (type, data) => { window.told.push([type, JSON.parse(data)]) } }',
  )
  return () => page.evaluate('window.told')
}

const variable = (page: Page, name: string) =>
  page.evaluate(`getComputedStyle(document.documentElement).getPropertyValue('${name}').trim()`)

describe('the console inside Telegram', () => {
  it('signs in with init data, uses Telegram’s colours, and keeps the user after a reload', async () => {
    const { page } = stage
    const told = await bridge(page)
    await page.goto(address(initData(), NIGHT))
    await heading(page, 'Home').waitFor()
    await page.getByText('You’re all caught up').waitFor()
    expect(await told()).toEqual([
      ['web_app_ready', {}],
      ['web_app_expand', {}],
    ])
    expect(await variable(page, '--paper')).toBe('#17212b')
    expect(await variable(page, '--act')).toBe('#6ab3f3')
    await expectAccessible(page, 'mini-app')
    await visit(page, '/tasks')
    await heading(page, 'Tasks').waitFor()
    const who = await page.evaluate("document.querySelector('.person').textContent")
    await page.reload()
    await heading(page, 'Tasks').waitFor()
    expect(await page.evaluate("document.querySelector('.person').textContent")).toBe(who)
    expect(await page.evaluate("sessionStorage.getItem('console-session')")).toBeNull()
  })

  it('keeps its own colours if Telegram’s are unreadable, and follows theme changes', async () => {
    const { page } = stage
    await bridge(page)
    await page.goto(address(initData(), { ...NIGHT, text_color: '#2b3642' }))
    await heading(page, 'Home').waitFor()
    expect(await variable(page, '--ink')).toBe('#e6edf3')
    const theme = JSON.stringify({ theme_params: NIGHT })
    await page.evaluate(`window.Telegram.WebView.receiveEvent('theme_changed', ${theme})`)
    expect(await variable(page, '--ink')).toBe('#f5f5f5')
  })

  it.each([
    ['link', 'run_01kae5m1v8w6c3x9q2r7t4y0zn', ''],
    ['button', '', '?tgWebAppStartParam=run_01kae5m1v8w6c3x9q2r7t4y0zn-stp_01kae5m1v8w6c3x9q2r7t4y0zn'],
  ])('opens the record named by a %s', async (_, start_param, query) => {
    const { page } = stage
    await bridge(page)
    const data = initData(start_param ? { start_param } : {})
    await page.goto(address(data).replace('#', `${query}#`))
    await heading(page, 'Run').waitFor()
    await page
      .getByRole('alert')
      .getByText(/run not found/i)
      .waitFor()
  })

  it('explains what to do if init data has expired', async () => {
    const { page } = stage
    const told = await bridge(page)
    const old = initData()
    stage.platform.clock.advance(11 * 60_000)
    await page.goto(address(old))
    await heading(page, 'We couldn’t verify who you are').waitFor()
    await expectAccessible(page, 'mini-app-unconfirmed')
    await page.getByRole('button', { name: 'Close' }).click()
    expect((await told()).at(-1)).toEqual(['web_app_close', {}])
  })
})

describe('framing', () => {
  // Browsers don't let public pages frame local ones, so these tests serve the platform at a public address.
  const PUBLIC = 'https://platform.test'

  const framed = async (origin: string, src: string) => {
    const { page, platform, mayAsk } = stage
    mayAsk.add(origin).add(PUBLIC)
    await page.route(`${PUBLIC}/**`, async (route) => {
      const request = route.request()
      const { pathname, search } = new URL(request.url())
      const [headers, body] = [await request.allHeaders(), request.postData()]
      const answer = await platform.call(request.method(), pathname + search, { headers, body })
      return route.fulfill({ status: answer.status, headers: answer.headers, body: answer.text })
    })
    await page.route(`${origin}/**`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<!doctype html><iframe src="${src.replaceAll('&', '&amp;')}" width="390" height="800"></iframe>`,
      }),
    )
    await page.goto(`${origin}/k/`)
    return page.frameLocator('iframe')
  }

  it('works inside Telegram’s web client', async () => {
    const frame = await framed('https://web.telegram.org', address(initData(), NIGHT, PUBLIC))
    await frame.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  })

  it.each([
    ['the Mini App by another site', 'https://evil.example', '/app/mini-app'],
    ['the regular page by Telegram', 'https://web.telegram.org', '/app'],
  ])('is blocked: %s', async (_, origin, path) => {
    const frame = await framed(origin, address(initData(), {}, PUBLIC).replace('/app/mini-app', path))
    await expect.poll(() => stage.problems.length).toBe(1)
    expect(stage.problems.splice(0).join()).toMatch(/frame-ancestors/)
    expect(await frame.getByRole('heading').count()).toBe(0)
  })
})
