import { describe, expect, it } from 'vitest'
import { personOf } from '#local/telegram/person.ts'
import { createSigner } from '#local/telegram/signing.ts'
import { expectAccessible } from '#test/browser/accessible.ts'
import { TEST_BOT } from '#testkit/platform.ts'
import { routeWidget, widgetButton } from '../widget.ts'
import { consoleStage, heading } from './harness.ts'

const stage = consoleStage({ CONSOLE_AUTO_PROVISION: 'false' })

const BOT = { username: 'platform_bot', url: 'https://t.me/platform_bot', login_widget: true }

const routeBot = (info: object = BOT) =>
  stage.page.route('**/console/bot/info', (route) =>
    route.fulfill({ contentType: 'application/json', body: JSON.stringify(info) }),
  )

const answerOf = (first_name: string): Record<string, string> => {
  const signer = createSigner(TEST_BOT.token, () => stage.platform.clock.now())
  const answer = signer.widget(personOf({ id: 7_777, first_name }))
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, String(value)]))
}

const routeWidgetTo = async (answer: object) => {
  stage.mayAsk.add('https://telegram.org').add('https://oauth.telegram.org')
  await routeWidget(stage.page, answer)
}

describe('signing in with the login widget', () => {
  it('returns to the previous screen, and removes the answer from the URL at once', async () => {
    const { page, url } = stage
    await routeBot()
    await routeWidgetTo(answerOf('Ann'))
    await page.goto(`${url}/app#/wishlist`)
    const button = widgetButton(page)
    await button.waitFor()
    await expectAccessible(page, 'sign-in-widget')
    expect(await page.getByLabel('Person').count()).toBe(0)
    await button.click()
    await heading(page, 'Agent requests').waitFor()
    expect(page.url()).toBe(`${url}/app#/wishlist`)
    await page.locator('nav .person').getByText('Ann').waitFor()
  })

  it('ignores an answer in a crafted link', async () => {
    const { page, url } = stage
    await routeBot()
    await routeWidgetTo({})
    await page.goto(`${url}/app?${new URLSearchParams(answerOf('Mallory'))}`)
    await heading(page, 'Sign in').waitFor()
    expect(page.url()).toBe(`${url}/app`)
    expect(await page.evaluate("sessionStorage.getItem('console-session')")).toBeNull()
  })

  it('explains that a forged answer was rejected', async () => {
    const { page, url } = stage
    await routeBot()
    await routeWidgetTo({ ...answerOf('Ann'), first_name: 'Somebody Else' })
    await page.goto(`${url}/app`)
    await widgetButton(page).click()
    await page.getByText('We couldn’t verify your Telegram sign-in. Sign in again.').waitFor()
  })

  it('runs no third-party script if the bot has none', async () => {
    const { page, url } = stage
    await routeBot({ ...BOT, login_widget: false })
    await page.goto(`${url}/app`)
    await page.getByRole('link', { name: 'Open in Telegram' }).waitFor()
    expect(await page.locator('script[src^="https:"]').count()).toBe(0)
  })
})
