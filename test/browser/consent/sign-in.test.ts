import { describe, expect, it } from 'vitest'
import { expectAccessible } from '#test/browser/accessible.ts'
import { installed } from '#testkit/fixtures.ts'
import { REDIRECT } from '#testkit/oauth.ts'
import { routeWidget, WIDGET, widgetButton } from '../widget.ts'
import { BOT, consentStage, heading, json, refuse, signer, someone } from './harness.ts'

const stage = consentStage({ CONSOLE_AUTO_PROVISION: 'false' })

const link = async () => {
  const { app } = await installed(stage.platform.deps, { scopes: ['runs:read', 'chat:write'] })
  return stage.act.link(app)
}

const routeWidgetTo = (answer: object) => {
  stage.mayAsk.add('https://telegram.org').add('https://oauth.telegram.org')
  return routeWidget(stage.page, answer)
}

const routeBot = (info: object = BOT) => stage.page.route('**/console/bot/info', (route) => json(route, info))

const open = async (tg: string) => {
  await stage.page.goto(`${stage.url}/oauth/consent?tg=${tg}`)
  await heading(stage.page, 'Sign in to continue').waitFor()
}

describe('signing in with the login widget', () => {
  it('returns to the page, removes the answer from the URL at once, and can decide', async () => {
    const { page, platform } = stage
    const tg = await link()
    const asked = await routeWidgetTo(signer(platform).widget(someone('Ann')))
    await routeBot()
    await open(tg)
    await widgetButton(page).waitFor()
    await expectAccessible(page, 'consent-sign-in-bot')
    await widgetButton(page).click()
    await page.getByText('Signed in as Ann.').waitFor()
    expect(page.url()).toBe(`${stage.url}/oauth/consent?tg=${tg}`)
    expect(asked).toEqual([`${WIDGET}?22`])

    // The session survives a reload without another answer from the widget.
    await page.reload()
    await page.getByText('Signed in as Ann.').waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL(`${REDIRECT}**`)
    expect(new URL(page.url()).searchParams.get('code')).toMatch(/^code_/)
  })

  it('ignores an answer in a crafted link', async () => {
    const { page, platform } = stage
    const tg = await link()
    await routeWidgetTo({})
    await routeBot()
    const answer = signer(platform).widget(someone('Mallory'))
    const query = new URLSearchParams(
      Object.entries(answer).map(([name, value]): [string, string] => [name, String(value)]),
    )
    await page.goto(`${stage.url}/oauth/consent?tg=${tg}&${query}`)
    await heading(page, 'Sign in to continue').waitFor()
    expect(page.url()).toBe(`${stage.url}/oauth/consent?tg=${tg}`)
    expect(await page.evaluate('sessionStorage["console-session"]')).toBeUndefined()
  })

  it('explains that a forged answer was rejected', async () => {
    const { page, platform } = stage
    const tg = await link()
    await routeWidgetTo({ ...signer(platform).widget(someone()), first_name: 'Somebody Else' })
    await routeBot()
    await open(tg)
    await widgetButton(page).click()
    await page.getByText('We couldn’t verify your Telegram sign-in. Sign in again.').waitFor()
    await expectAccessible(page, 'consent-widget-refused')
  })

  it('isn’t offered if the bot has none, and then no third-party script runs', async () => {
    const { page } = stage
    await routeBot({ ...BOT, login_widget: false })
    await open(await link())
    await page.getByRole('link', { name: 'Continue in Telegram' }).waitFor()
    expect(await page.locator('script').count()).toBe(1)
  })

  it('explains what to do if there is neither a bot nor local sign-in', async () => {
    const { page } = stage
    await routeBot({ username: null, url: null, login_widget: false })
    await open(await link())
    await page.getByText('Open this link in Telegram to sign in.').waitFor()
    expect(await page.getByRole('button').count()).toBe(0)
    await expectAccessible(page, 'consent-no-way')
    await page.route('**/console/bot/info', (route) => refuse(route, 409, 'conflict'))
    await page.reload()
    await page.getByText('Telegram can’t be reached right now.').waitFor()
  })
})

describe('handing over to Telegram', () => {
  const handOver = async (tg: string) => {
    const { page } = stage
    await page.context().route('https://t.me/**', (route) => route.fulfill({ body: 'the messenger' }))
    stage.mayAsk.add('https://t.me')
    await routeBot({ ...BOT, login_widget: false })
    await open(tg)
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Continue in Telegram' }).click(),
    ])
    await heading(page, 'Continue in Telegram').waitFor()
    return tab
  }

  it('opens the bot with the nonce in a new tab, and waits until the request is closed', async () => {
    const { page, act, platform } = stage
    const tg = await link()
    await page.clock.install()
    const tab = await handOver(tg)
    expect(tab.url()).toBe(`${BOT.url}?start=oauth_${tg}`)
    expect(await tab.evaluate('opener')).toBeNull()
    await expectAccessible(page, 'consent-handed-over')
    await page.getByRole('timer').getByText(/^9:/).waitFor()

    const { body } = await platform.call('POST', '/console/bot/webapp-auth', {
      body: { init_data: signer(platform).initData(someone()) },
    })
    expect((await act.decide(body.token, tg)).status).toBe(200)
    await page.clock.runFor(3_000)
    await heading(page, 'This request is closed').waitFor()
    expect(page.url(), 'the page doesn’t learn the outcome').toBe(`${stage.url}/oauth/consent?tg=${tg}`)
    await expectAccessible(page, 'consent-handed-over-end')
  })

  it('polls every 3 seconds, less often in a hidden tab, and at once when the tab is visible again', async () => {
    const { page } = stage
    const tg = await link()
    await page.clock.install()
    let asked = 0
    await handOver(tg)
    await page.route('**/oauth/consent/status?*', (route) => {
      asked++
      return json(route, { over: false, expires_at: null, expires_in: 500 })
    })
    await page.route('**/fence', (route) => json(route, {}))
    const expectAsksIn = async (ms: number, times: number): Promise<void> => {
      const before = asked
      const answered = times > 0 ? page.waitForResponse('**/oauth/consent/status?*') : undefined
      await page.clock.runFor(ms)
      await (await answered)?.finished()
      // A request that the page made earlier was counted before this one is answered.
      await page.evaluate('fetch("/fence").then(({ status }) => status)')
      expect(asked - before).toBe(times)
    }
    const hide = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    await expectAsksIn(3_000, 1)
    await expectAsksIn(3_000, 1)
    await hide(true)
    // The poll scheduled before still runs.
    await expectAsksIn(3_000, 1)
    await expectAsksIn(14_000, 0)
    await expectAsksIn(2_000, 1)
    await hide(false)
    await expectAsksIn(100, 1)
  })

  it('keeps waiting without a connection, offers sign-in on the page, and ends with the countdown', async () => {
    const { page } = stage
    await page.clock.install()
    await handOver(await link())
    await page.route('**/oauth/consent/status?*', (route) => route.abort())
    await page.clock.runFor(3_000)
    await page.getByText('Connection lost. Retrying…').waitFor()
    await page.getByRole('button', { name: 'Sign in here instead' }).click()
    await heading(page, 'Sign in to continue').waitFor()
    await page.clock.fastForward(600_000)
    await heading(page, 'This link has expired').waitFor()
  })
})
