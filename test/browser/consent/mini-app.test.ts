import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { installed } from '#testkit/fixtures.ts'
import { consentStage, heading, json, openAs, signer, someone } from './harness.ts'

const stage = consentStage()

const link = async () => {
  const { app } = await installed(stage.platform.deps, { scopes: ['runs:read', 'chat:write'] })
  return { app, tg: await stage.act.link(app) }
}

/** URL that Telegram opens. */
const address = (tg: string, initData: string, theme?: object, url = stage.url): string => {
  const fragment = new URLSearchParams({ tgWebAppData: initData, tgWebAppVersion: '9.0', tgWebAppPlatform: 'android' })
  if (theme) fragment.set('tgWebAppThemeParams', JSON.stringify(theme))
  return `${url}/oauth/consent/mini-app?tg=${tg}#${fragment}`
}

/** Fakes the bridge of Telegram's web view. Returns the events posted so far. */
const bridge = async (): Promise<() => Promise<[string, unknown][]>> => {
  await stage.page.addInitScript(
    'window.told = []; window.TelegramWebviewProxy = { postEvent: (type, data) => { window.told.push([type, JSON.parse(data)]) } }',
  )
  return () => stage.page.evaluate('window.told')
}

const initData = (name = 'Ann') => signer(stage.platform).initData(someone(name))

describe('the consent page inside Telegram', () => {
  it('signs in with init data, submits the decision and continues in the browser', async () => {
    const { page } = stage
    const { app, tg } = await link()
    const told = await bridge()
    await page.goto(address(tg, initData()))
    await heading(page, `${app.name} is requesting access`).waitFor()
    await page.getByText('Signed in as Ann.').waitFor()
    expect(await page.getByRole('button', { name: /Sign out/ }).isVisible()).toBe(false)
    expect(await told()).toEqual([
      ['web_app_ready', {}],
      ['web_app_expand', {}],
    ])
    await expectAccessible(page, 'consent-mini-app')
    await page.getByRole('button', { name: 'Approve' }).click()
    await heading(page, 'Access granted').waitFor()
    const [type, data] = (await told()).at(-1) ?? []
    expect(type).toBe('web_app_open_link')
    expect((data as { url: string }).url).toMatch(/^https:\/\/client\.example\/callback\?code=code_/)
    await expectAccessible(page, 'consent-mini-app-end')
    await page.getByRole('link', { name: 'Continue to client.example' }).click()
    expect((await told()).filter(([name]) => name === 'web_app_open_link')).toHaveLength(2)
    await page.getByRole('button', { name: 'Close' }).click()
    expect((await told()).at(-1)).toEqual(['web_app_close', {}])
  })

  it('supports web views that only have external.notify', async () => {
    const { page } = stage
    const { tg } = await link()
    await page.addInitScript(
      'window.told = []; window.external.notify = (text) => { told.push(JSON.parse(text).eventType) }',
    )
    await page.goto(address(tg, initData()))
    await page.getByRole('button', { name: 'Decline' }).click()
    await heading(page, 'Access declined').waitFor()
    expect(await page.evaluate('window.told')).toEqual(['web_app_ready', 'web_app_expand', 'web_app_open_link'])
  })

  it('keeps its session after a reload, although init data works only once', async () => {
    const { page } = stage
    const { tg } = await link()
    const tokens: string[] = []
    page.on('response', async (response) => {
      if (response.url().endsWith('/webapp-auth')) tokens.push((await response.json()).token)
    })
    await page.goto(address(tg, initData()))
    await page.getByText('Signed in as Ann.').waitFor()
    await page.reload()
    await page.getByText('Signed in as Ann.').waitFor()
    expect(tokens).toHaveLength(2)
    expect(new Set(tokens).size).toBe(1)
    const again = await page.context().newPage()
    await again.goto(page.url())
    await heading(again, 'We couldn’t verify who you are').waitFor()
  })

  it('trusts only Telegram’s identity, even if someone else is signed in in this browser', async () => {
    const { page } = stage
    const { app, tg } = await link()
    const { user } = await openAs(stage, await stage.act.link(app))
    await page.getByText(`Signed in as ${user}.`).waitFor()
    await page.goto(address(tg, initData('Ann')))
    await page.getByText('Signed in as Ann.').waitFor()
    await page.goto(`${stage.url}/oauth/consent/mini-app?tg=${tg}`)
    await heading(page, 'Open this link in Telegram').waitFor()
    await expectAccessible(page, 'consent-not-in-messenger')
    await page.getByRole('link', { name: 'Open the web page' }).click()
    await page.waitForURL(`${stage.url}/oauth/consent?tg=${tg}`)
  })

  it('rejects forged and expired init data', async () => {
    const { page, platform } = stage
    const { tg } = await link()
    const old = initData()
    platform.clock.advance(600_001)
    const { tg: later } = await link()
    await page.goto(address(later, old))
    await heading(page, 'We couldn’t verify who you are').waitFor()
    await page.goto(address(tg, initData('Ann').replace('Ann', 'Eve')))
    await page.reload()
    await heading(page, 'We couldn’t verify who you are').waitFor()
    await expectAccessible(page, 'consent-unconfirmed')
  })

  it('can’t decide with a session that Telegram didn’t vouch for', async () => {
    const { page, platform } = stage
    const { tg } = await link()
    const { body } = await platform.call('POST', '/console/session', { body: { user: 'provisioned' } })
    await page.route('**/console/bot/webapp-auth', (route) => json(route, body))
    await page.goto(address(tg, initData()))
    await page.getByRole('button', { name: 'Approve' }).click()
    await heading(page, 'Something went wrong').waitFor()
    await page.getByText(/needs a session from the messaging app/).waitFor()
    expect((await stage.act.decide(body.token, tg)).status, 'the request is still open').toBe(200)
  })

  it('follows Telegram’s colour scheme rather than the device’s', async () => {
    const { page } = stage
    await page.emulateMedia({ colorScheme: 'light' })
    for (const [bg_color, expected] of [
      ['#17212b', 'dark'],
      ['#ffffff', 'light'],
      ['nonsense', undefined],
    ] as const) {
      const { tg } = await link()
      await page.goto('about:blank')
      await page.goto(address(tg, initData(), { bg_color }))
      await page.getByText('Signed in as Ann.').waitFor()
      expect(await page.evaluate('document.documentElement.dataset.scheme')).toBe(expected)
      const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(ground).toBe(expected === 'dark' ? 'rgb(13, 17, 23)' : 'rgb(242, 244, 247)')
    }
  })

  it('opens only http and https URLs', async () => {
    const { page } = stage
    const told = await bridge()
    const { tg } = await link()
    await page.route('**/oauth/consent/decision', (route) =>
      json(route, { redirect_to: 'javascript:document.title=1' }),
    )
    await page.goto(address(tg, initData()))
    await page.getByRole('button', { name: 'Approve' }).click()
    await heading(page, 'The app’s return address can’t be opened').waitFor()
    expect((await told()).map(([type]) => type)).not.toContain('web_app_open_link')
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0)
  })
})

describe('framing', () => {
  // Browsers don't let public pages frame local ones, so these tests serve the platform at a public address.
  const PUBLIC = 'https://platform.test'

  const framed = async (origin: string, src: string) => {
    stage.mayAsk.add(origin).add(PUBLIC)
    await stage.page.route(`${PUBLIC}/**`, async (route) => {
      const request = route.request()
      const { pathname, search } = new URL(request.url())
      const [headers, body] = [await request.allHeaders(), request.postData()]
      const answer = await stage.platform.call(request.method(), pathname + search, { headers, body })
      return route.fulfill({ status: answer.status, headers: answer.headers, body: answer.text })
    })
    await stage.page.route(`${origin}/**`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<!doctype html><script>window.told = []; addEventListener('message', ({ data }) => told.push(JSON.parse(data)))</script>
          <iframe src="${src.replaceAll('&', '&amp;')}" width="390" height="800"></iframe>`,
      }),
    )
    await stage.page.goto(`${origin}/k/`)
    return stage.page.frameLocator('iframe')
  }

  it('works inside Telegram’s web client, and posts messages only to it', async () => {
    const { page } = stage
    const { tg } = await link()
    const frame = await framed('https://web.telegram.org', address(tg, initData(), {}, PUBLIC))
    await frame.getByRole('button', { name: 'Approve' }).click()
    await frame.getByRole('heading', { name: 'Access granted' }).waitFor()
    const told = (await page.evaluate('window.told')) as { eventType: string; eventData: { url?: string } }[]
    expect(told.map(({ eventType }) => eventType)).toEqual(['web_app_ready', 'web_app_expand', 'web_app_open_link'])
    expect(told.at(-1)?.eventData.url).toMatch(/^https:\/\/client\.example\/callback\?code=/)
  })

  it.each([
    ['the Mini App by another site', 'https://evil.example', '/oauth/consent/mini-app'],
    ['the regular page by Telegram', 'https://web.telegram.org', '/oauth/consent'],
  ])('is blocked: %s', async (_, origin, path) => {
    const { page } = stage
    const { tg } = await link()
    const frame = await framed(origin, address(tg, initData(), {}, PUBLIC).replace('/oauth/consent/mini-app', path))
    await expect.poll(() => stage.problems.length).toBe(1)
    expect(stage.problems.splice(0).join()).toMatch(/frame-ancestors/)
    expect(await frame.getByRole('heading').count()).toBe(0)
    expect(await page.evaluate('window.told')).toEqual([])
  })
})

describe('another site', () => {
  it('can’t decide with a form or a script, even if the user is signed in here', async () => {
    const { page, url } = stage
    const { tg } = await link()
    await openAs(stage, tg)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    const evil = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    stage.mayAsk.add(evil)
    await page.goto(evil)
    const body = JSON.stringify({ tg, decision: 'approve' })
    const sent = await page.evaluate(
      ([to, text]) =>
        Promise.all(
          [
            { mode: 'no-cors', headers: { 'content-type': 'text/plain' } },
            { headers: { 'content-type': 'application/json' } },
            { headers: { authorization: 'Bearer x', 'content-type': 'application/json' } },
          ].map((init) =>
            fetch(to ?? '', { method: 'POST', credentials: 'include', body: text ?? '', ...(init as object) }).then(
              ({ type }) => type,
              () => 'refused',
            ),
          ),
        ),
      [`${url}/oauth/consent/decision`, body],
    )
    expect(sent).toEqual(['opaque', 'refused', 'refused'])
    await page.setContent(
      `<form method="post" enctype="text/plain" action="${url}/oauth/consent/decision"><input name='{"tg":"${tg}","decision":"approve","x":"' value='"}'></form>`,
    )
    await Promise.all([page.waitForNavigation(), page.evaluate('document.forms[0].submit()')])
    expect(await page.textContent('body')).toContain('unauthorized')
    const status = await stage.platform.call('GET', `/oauth/consent/status?tg=${tg}`)
    expect(status.body.over).toBe(false)
    site.closeAllConnections()
    await new Promise((resolve) => site.close(resolve))
  })
})
