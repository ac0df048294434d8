import type { Locator } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Person, Telegram } from '#local/telegram.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingChromium } from '#testkit/using-chromium.ts'
import { type Agent, must, newAgent, pkce, send, until } from './support.ts'
import { usingOwnLocal } from './using-local.ts'

const REDIRECT = 'http://127.0.0.1:9/callback'

let agent: Agent
let telegram: Telegram
let ada: Person
const running = usingOwnLocal()
const receiver = usingReceiver()
const chromium = usingChromium()
beforeAll(async () => {
  telegram = running.platform.telegram
  ada = telegram.person({ first_name: 'Ada', last_name: 'Lovelace', username: 'ada' })
  agent = await newAgent(running.baseUrl, { endpoint: receiver.url, redirectUri: REDIRECT })
  await joinSandbox(ada)
})

/** Returns the bot's answer to a person's message. */
const answerTo = async (person: Person, text: string) => {
  const before = telegram.chat(person).length
  telegram.say(person, text)
  await telegram.settled()
  const [, answer] = telegram.chat(person).slice(before)
  if (!answer) throw new Error(`The bot did not answer ${text}`)
  return answer
}

/** Follows an invitation's link and presses the first button. */
const join = async (person: Person, link: string) => {
  const question = await answerTo(person, `/start ${/join_[\w-]+/.exec(link)?.[0]}`)
  const pressed = telegram.press(person, question.message_id, 0)
  if (pressed.kind !== 'callback') throw new Error(`The button is a ${pressed.kind}`)
  await telegram.settled()
  return { question, pressed }
}

/** Joins the developer's sandbox, the only workspace where an app without approval can be installed. */
const joinSandbox = async (person: Person) => {
  const { headers } = agent
  const { invite_link } = await must(running.baseUrl, 'POST', '/api/v1/dev/sandbox/invite', { headers })
  await join(person, invite_link)
}

/** Opens the Mini App behind a message's first button. @returns its address and its init data */
const openMiniApp = async (person: Person, messageId: number) => {
  const pressed = telegram.press(person, messageId, 0)
  if (pressed.kind !== 'web_app') throw new Error(`The button is a ${pressed.kind}`)
  const url = new URL(pressed.url)
  const initData = new URLSearchParams(url.hash.slice(1)).get('tgWebAppData')
  return { url, initData }
}

const signIn = (initData: string | null, headers = {}) =>
  send(running.baseUrl, 'POST', '/console/bot/webapp-auth', { body: { init_data: initData }, headers })

/** Returns the address that an app sends its customer to. */
const authorizeLink = (state: string, challenge: string): URL => {
  const url = new URL(`${running.baseUrl}/oauth/authorize`)
  url.search = new URLSearchParams({
    client_id: agent.app.client_id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    scope: 'runs:write',
    state,
  }).toString()
  return url
}

/** Plays an app that starts authorization. @returns the nonce of the consent link, and the verifier */
const authorize = async (state: string) => {
  const { verifier, challenge } = pkce()
  const { headers } = await send('', 'GET', authorizeLink(state, challenge).href)
  return { tg: new URL(headers.get('location') ?? '').searchParams.get('tg') ?? '', verifier }
}

describe('consent in the messaging app', () => {
  it('shows the connected bot’s handle and the address of its chat', async () => {
    expect(await must(running.baseUrl, 'GET', '/console/bot/info')).toEqual({
      username: telegram.username,
      url: running.platform.messenger,
      login_widget: false,
    })
  })

  it('an invited person joins once by the bot’s button, however often the update is delivered', async () => {
    const { sandbox_workspace: sandbox } = await must(running.baseUrl, 'POST', '/api/v1/dev/register', {
      body: { email: 'grace@example.com', name: 'Grace' },
      headers: { 'idempotency-key': crypto.randomUUID() },
    })
    const { question, pressed } = await join(ada, sandbox.invite_link)
    expect(question.text).toContain(sandbox.name)
    expect(await telegram.redeliver(pressed.updateId)).toBe(200)
    const [shown] = telegram.chat(ada).filter(({ message_id }) => message_id === question.message_id)
    expect(shown?.text).toContain('joined')
    expect(shown?.reply_markup).toBeUndefined()
  })

  it('leads from the app’s link through the bot and its Mini App to a code, and to its tokens', async () => {
    const { tg, verifier } = await authorize('state-1')
    const page = await send(running.baseUrl, 'GET', `/oauth/consent?tg=${tg}`)
    expect(page.status).toBe(200)
    const handedOver = await answerTo(ada, `/start oauth_${tg}`)
    const { url, initData } = await openMiniApp(ada, handedOver.message_id)
    expect(url.href.split('#')[0]).toBe(`${running.baseUrl}/oauth/consent/mini-app?tg=${tg}`)
    expect((await send('', 'GET', url.href)).status).toBe(200)

    const { status, body: session, text } = await signIn(initData)
    expect(status, text).toBe(200)
    const { token } = session
    const request = await must(running.baseUrl, 'GET', `/oauth/consent/request?tg=${tg}`, { token })
    expect(request.workspaces.map(({ id }: { id: string }) => id)).toContain(agent.sandboxId)
    const { redirect_to } = await must(running.baseUrl, 'POST', '/oauth/consent/decision', {
      token,
      body: { tg, decision: 'approve', workspace_id: agent.sandboxId },
    })
    const back = new URL(redirect_to).searchParams
    expect(back.get('state')).toBe('state-1')
    const tokens = await must(running.baseUrl, 'POST', '/oauth/token.json', {
      body: {
        grant_type: 'authorization_code',
        client_id: agent.app.client_id,
        client_secret: agent.app.client_secret,
        code: back.get('code'),
        code_verifier: verifier,
        redirect_uri: REDIRECT,
      },
    })
    const me = await must(running.baseUrl, 'GET', '/api/v1/me', { token: tokens.access_token })
    expect(JSON.stringify(me)).toContain(agent.sandboxId)
    // After the decision, the bot has nothing more to show for the link.
    expect((await answerTo(ada, `/start oauth_${tg}`)).reply_markup).toBeUndefined()
  })

  it('works in a browser alone, with the messenger’s page in place of the app', async () => {
    await joinSandbox(telegram.person({ first_name: 'Bob' }))
    const context = await chromium.browser.newContext()
    try {
      context.setDefaultTimeout(60_000)
      const opened = async (link: Locator) => {
        const [page] = await Promise.all([context.waitForEvent('page'), link.click()])
        return page
      }
      const consent = await context.newPage()
      await consent.goto(authorizeLink('state-2', pkce().challenge).href)
      const messenger = await opened(consent.getByRole('link', { name: 'Continue in Telegram' }))
      await messenger.getByLabel('Name').fill('Bob')
      await messenger.getByRole('button', { name: 'Continue' }).click()
      await messenger.getByRole('button', { name: 'Start' }).click()
      const miniApp = await opened(messenger.getByRole('link', { name: 'Review request' }))
      await miniApp.getByLabel('Install in workspace').selectOption(agent.sandboxId)
      await miniApp.getByRole('button', { name: 'Approve' }).click()
      await miniApp.getByRole('heading', { name: 'Access granted' }).waitFor()
      const back = await miniApp.getByRole('link', { name: /^Continue to/ }).getAttribute('href')
      expect(new URL(back ?? '').searchParams.get('state')).toBe('state-2')
      // The page that handed over learns that the request is decided, and nothing else.
      await consent.getByRole('heading', { name: 'Continue in Telegram' }).waitFor({ state: 'hidden' })
      expect(await consent.content()).not.toContain('code_')
    } finally {
      await context.close()
    }
  })

  it('init data signs in once; the widget leads to the same account', async () => {
    const initData = telegram.initData(ada)
    const first = await signIn(initData)
    expect(first.status, first.text).toBe(200)
    expect((await signIn(initData)).status).toBe(401)
    expect((await signIn(initData.replace('Ada', 'Eve'))).status).toBe(401)
    const widget = await must(running.baseUrl, 'POST', '/console/bot/widget-auth', { body: telegram.widget(ada) })
    expect(widget.user.id).toBe(first.body.user.id)
  })

  it('an update that the platform couldn’t process is redelivered and answered once', async () => {
    telegram.fail('sendMessage', { retry_after: 1 })
    const before = telegram.chat(ada).length
    const id = telegram.say(ada, '/start')
    await telegram.settled()
    expect(await telegram.redeliver(id)).toBe(200)
    await until(() => (telegram.chat(ada).length === before + 2 ? true : undefined))
  })

  it('continues after a restart with the same messenger address, people and bot', async () => {
    const { url } = telegram
    await running.stop()
    await running.startAgain()
    telegram = running.platform.telegram
    expect(telegram.url).toBe(url)
    expect(telegram.person({ first_name: 'ada' }).id).toBe(ada.id)
    expect((await answerTo(ada, '/start')).text).toContain('sign-in bot')
  })

  it('an update without the webhook’s secret is refused', async () => {
    const update = { update_id: 1, message: { text: '/start' } }
    const headers = { 'x-telegram-bot-api-secret-token': 'x'.repeat(64) }
    const answer = await send(running.baseUrl, 'POST', '/console/bot/webhook', { body: update, headers })
    expect(answer.status).toBe(401)
  })
})
