import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { validate } from '@tma.js/init-data-node'
import { Api } from 'grammy'
import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTelegram, type Telegram } from '#local/telegram.ts'
import { usingChromium } from '#testkit/using-chromium.ts'
import { findViolations, THEMES, takePicture } from './accessible.ts'

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
const chromium = usingChromium()

describe.each(THEMES)('the Telegram stand-in in %s mode', (colorScheme) => {
  let telegram: Telegram
  let api: Api
  let bot: Server
  let botUrl: string
  let context: BrowserContext
  let page: Page
  let complaints: string[]
  let requests: string[]

  /** Starts a bot that offers a Mini App and a question. The Mini App is an empty page. */
  const startBot = async () => {
    bot = createServer(async (request, response) => {
      let text = ''
      for await (const piece of request) text += piece
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>App</title>')
      if (request.method !== 'POST') return
      const { message, callback_query: query } = JSON.parse(text)
      if (query) {
        await api.answerCallbackQuery(query.id, { text: `You chose ${query.data}` })
        await api.editMessageText(query.from.id, query.message.message_id, `Chosen: ${query.data}`)
        return
      }
      const repliedTo = message.reply_to_message ? ` in reply to “${message.reply_to_message.text}”` : ''
      await api.sendMessage(message.chat.id, `<b>You wrote</b> ${message.text}${repliedTo}`, {
        reply_markup: {
          inline_keyboard: [
            [{ text: 'Open the app', web_app: { url: `${botUrl}/app?tg=1` } }],
            [
              { text: 'Yes', callback_data: 'yes' },
              { text: 'No', callback_data: 'no' },
            ],
          ],
        },
      })
    })
    await new Promise<void>((resolve) => bot.listen(0, '127.0.0.1', resolve))
    botUrl = `http://127.0.0.1:${(bot.address() as AddressInfo).port}`
    await api.setWebhook(`${botUrl}/hook`)
  }

  beforeEach(async () => {
    telegram = await createTelegram({ token: TOKEN, username: 'test_bot', name: 'Test' })
    api = new Api(TOKEN, { apiRoot: telegram.url })
    await startBot()
    context = await chromium.browser.newContext({ colorScheme, viewport: { width: 720, height: 800 } })
    context.setDefaultTimeout(60_000)
    page = await context.newPage()
    complaints = []
    requests = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
    })
  })
  afterEach(async () => {
    await context.close()
    await telegram.stop()
    bot.close()
    expect(complaints).toEqual([])
    expect(requests.filter((url) => !url.startsWith(`${telegram.url}/`))).toEqual([])
  })

  const picture = (name: string) => takePicture(page, `${colorScheme}-${name}`)

  it('starts the bot with the link’s parameter by keyboard, and passes signed init data to its Mini App', async () => {
    await page.goto(`${telegram.url}/test_bot?start=oauth_abc`)
    expect(await page.title()).toContain('Local stand-in for Telegram')
    await picture('who')
    expect(await findViolations(page)).toEqual([])
    await page.keyboard.type('Ada')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Start' }).waitFor()
    await page.waitForFunction('document.activeElement?.id === "start"')
    await picture('start')
    await page.keyboard.press('Enter')
    // The bot's messages are shown as plain text.
    await page.getByText('<b>You wrote</b> /start oauth_abc').waitFor()
    await picture('chat')
    expect(await findViolations(page)).toEqual([])
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    const opened = context.waitForEvent('page')
    await page.keyboard.press('Enter')
    const app = await opened
    await app.waitForLoadState()
    const [address, fragment = ''] = app.url().split('#')
    expect(address).toBe(`${botUrl}/app?tg=1`)
    const initData = new URLSearchParams(fragment).get('tgWebAppData') ?? ''
    validate(initData, TOKEN)
    expect(JSON.parse(new URLSearchParams(initData).get('user') ?? '')).toMatchObject({
      id: telegram.person({ first_name: 'Ada' }).id,
    })
    expect(await app.evaluate('window.opener')).toBeNull()
  })

  it('shows the bot’s answer to a pressed button and its edited message', async () => {
    await page.goto(`${telegram.url}/TEST_BOT`)
    await page.getByLabel('Name').fill('Bob')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('Message', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByRole('status').getByText('You chose yes').waitFor()
    await page.getByText('Chosen: yes').waitFor()
    expect(await page.getByText('<b>You wrote</b>').count()).toBe(0)
    await picture('pressed')
  })

  it('replies to a message of the bot, and shows what was replied to', async () => {
    await page.goto(`${telegram.url}/test_bot`)
    await page.getByLabel('Name').fill('Bob')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('Message', { exact: true }).fill('Hello')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('button', { name: 'Reply' }).click()
    await page.getByText('Reply to: <b>You wrote</b> Hello').waitFor()
    await picture('replying')
    expect(await findViolations(page)).toEqual([])
    await page.getByLabel('Message', { exact: true }).fill('Seven')
    await page.keyboard.press('Enter')
    await page.getByText('<b>You wrote</b> Seven in reply to “<b>You wrote</b> Hello”').waitFor()
    expect(await page.getByText('Reply to:').isVisible()).toBe(false)
  })

  it('remembers the person and can switch to another', async () => {
    await page.goto(`${telegram.url}/test_bot`)
    await page.getByLabel('Name').fill('Ada')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('<b>You wrote</b> /start').waitFor()
    await page.reload()
    await page.getByText('<b>You wrote</b> /start').waitFor()
    await page.getByRole('button', { name: 'Switch person' }).click()
    await page.getByLabel('Name').fill('Bob')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('No messages yet.').waitFor()
    await page.getByRole('button', { name: 'Switch person' }).click()
    await picture('again')
    await page.getByRole('button', { name: 'Ada' }).click()
    await page.getByText('<b>You wrote</b> /start').waitFor()
  })
})

describe('the Telegram stand-in', () => {
  it('rejects requests from other origins and host names', async () => {
    const telegram = await createTelegram({ token: TOKEN, username: 'test_bot' })
    const call = (headers: Record<string, string>, path = '/messenger/messages') =>
      new Promise<number | undefined>((resolve, reject) => {
        request(`${telegram.url}${path}`, { method: 'POST', headers }, (answer) => {
          answer.resume()
          resolve(answer.statusCode)
        })
          .once('error', reject)
          .end(JSON.stringify({ name: 'Ada', text: 'Hello' }))
      })
    expect(await call({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await call({ origin: 'http://127.0.0.1:1' })).toBe(403)
    expect(await call({ host: 'rebound.example' })).toBe(403)
    // The local bot's token is public.
    expect(await call({ 'sec-fetch-site': 'cross-site' }, `/bot${TOKEN}/getMe`)).toBe(403)
    expect(await call({}, `/bot${TOKEN}/getMe`)).toBe(200)
    expect(telegram.chat(telegram.person({ first_name: 'Ada' }))).toEqual([])
    expect(await call({ 'sec-fetch-site': 'same-origin', origin: telegram.url })).toBe(200)
    await telegram.stop()
  })
})
