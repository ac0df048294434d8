import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createTelegram } from '#local/telegram.ts'
import { createTelegramBot } from '#shared/adapters/telegram.ts'
import { TEST_BOT, type TestPlatform } from './platform.ts'

/** Starts Telegram for the platform's bot: a Bot API that the bot calls, and that sends people's updates to the bot's webhook. */
export const startTelegram = async (platform: TestPlatform) => {
  let origin = ''
  const telegram = await createTelegram({
    token: TEST_BOT.token,
    username: 'platform_bot',
    now: () => platform.clock.now(),
    retryDelaysMs: [20],
    reach: (address) => address.replace(platform.settings.baseUrl, origin),
  })
  platform.deps.bot = createTelegramBot({
    credentials: async () => TEST_BOT,
    apiUrl: telegram.url,
    clock: platform.clock,
  })
  platform.settings.telegramApiUrl = telegram.url
  // The platform doesn't listen on a port, and Telegram needs an address.
  const front = createServer(async (request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const answer = await platform.call(request.method ?? '', request.url ?? '', { headers, body: await text(request) })
    answers.push(answer.status)
    response.writeHead(answer.status, answer.headers).end(answer.text)
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  const answers: number[] = []
  origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  const url = `${origin}/console/bot/webhook`
  await platform.deps.bot.call('setWebhook', { url, secret_token: TEST_BOT.webhookSecret })

  return {
    ...telegram,
    /** Answers of the webhook, in order. */
    answers,
    stop: async () => {
      await telegram.stop()
      front.closeAllConnections()
      await new Promise((closed) => front.close(closed))
    },
  }
}

export type TestTelegram = Awaited<ReturnType<typeof startTelegram>>
