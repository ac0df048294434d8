import { until } from '#test/e2e/support.ts'
import { type Credential, type Ids, PATIENCE_MS, type WorldContext } from './context.ts'

/** Connects a workspace's bot, to which a person wrote. */
export const createMessenger = async ({ platform, unique, call }: WorldContext, owner: Credential): Promise<Ids> => {
  const { telegram } = platform
  const number = Number.parseInt(unique, 16)
  const bot = telegram.bot({
    token: `${number}:a-token-of-the-fuzzing-tests-0123456789`,
    username: `fuzz_${unique}_bot`,
  })
  const account = await call('POST', '/console/messenger/accounts/bot', owner, { token: bot.token })
  bot.say(telegram.person({ first_name: `Contact ${unique}` }), 'Hello')
  const chat = await until(async () => (await call('GET', '/console/messenger/chats', owner)).items[0], PATIENCE_MS)
  const written = await call('POST', `/console/messenger/chats/${chat.id}/messages`, owner, { text: 'Hello.' })
  return { account: account.id, thread: chat.id, message: written.id }
}
