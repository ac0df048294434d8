import { afterAll, beforeAll } from 'vitest'
import { type Account, AccountEntity, type Dialog, DialogEntity } from '#shared/entities/messenger.ts'
import { UserEntity } from '#shared/entities/people.ts'
import { team } from '#test/functions/people/support.ts'
import type { member } from '#test/support/fixtures.ts'
import { startPlatform, type TestPlatform } from '#test/support/platform.ts'
import { startTelegram, type TestTelegram } from '#test/support/telegram.ts'

type Member = Awaited<ReturnType<typeof member>>

/** The platform with a Telegram of its own, and what people do there and in the console. */
export const usingMessenger = () => {
  let platform: TestPlatform
  let telegram: TestTelegram
  let numbers = 1_000
  beforeAll(async () => {
    platform = await startPlatform()
    telegram = await startTelegram(platform)
  })
  afterAll(async () => {
    await telegram.stop()
    await platform.stop()
  })

  const call = (person: Member, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    platform.call(method, `/console/messenger${path}`, {
      token: person.token,
      headers,
      ...(body !== undefined && { body }),
    })

  /** Hands on all that Telegram and the platform have to say, until nothing moves. */
  const settle = async () => {
    await telegram.settled()
    await platform.drain()
  }

  /** A customer's bot that is not connected yet. */
  const newBot = () => {
    const id = ++numbers
    return telegram.bot({
      token: `${id}:secret-part-of-a-token-${id}`,
      username: `customer_${id}_bot`,
      name: `Bot ${id}`,
    })
  }

  const newPerson = (name = 'Cleo') => telegram.person({ first_name: `${name} ${++numbers}` })

  /** A workspace with people of these roles, and its bot. */
  const connected = async (...roles: Parameters<typeof member>[2][]) => {
    const { workspaceId, people } = await team(platform, 'admin', ...roles)
    const [admin, ...others] = people as [Member, ...Member[]]
    const bot = newBot()
    const answer = await call(admin, 'POST', '/accounts/bot', { token: bot.token })
    if (answer.status !== 201) throw new Error(answer.text)
    const account = (await platform.deps.table.get(AccountEntity, {
      workspace_id: workspaceId,
      id: answer.body.id,
    })) as Account
    return { workspaceId, admin, others, bot, account, answer }
  }

  /** The same with somebody who wrote to the bot. */
  const talking = async (...roles: Parameters<typeof member>[2][]) => {
    const scene = await connected(...roles)
    const contact = newPerson()
    scene.bot.say(contact, 'Hello')
    await settle()
    const { body } = await call(scene.admin, 'GET', '/chats')
    const { id } = body.items[0]
    platform.clock.advance(1_000)
    return { ...scene, contact, chatId: id as string, conversationId: body.items[0].conversation_id as string }
  }

  /** A member who signed in with Telegram and connected their account to the platform's bot there. */
  const personal = async (options: { canReply?: boolean; shared?: boolean } = {}) => {
    const { workspaceId, people } = await team(platform, 'member', 'owner')
    const [person, owner] = people as [Member, Member]
    const self = newPerson('Ada')
    await platform.deps.table.transact([
      UserEntity.update({ id: person.user.id }, { set: { identity: `telegram:${self.id}` } }),
    ])
    const answer = await call(person, 'POST', '/accounts/user', { shared: options.shared ?? false })
    const { connection } = telegram.business.connect(self, options)
    await settle()
    platform.clock.advance(1_000)
    return { workspaceId, person, owner, self, connection, id: answer.body.id as string, answer }
  }

  const messages = async (person: Member, chatId: string) =>
    (await call(person, 'GET', `/chats/${chatId}/messages`)).body.items.toReversed()

  const dialog = async (workspaceId: string, id: string) =>
    (await platform.deps.table.get(DialogEntity, { workspace_id: workspaceId, id })) as Dialog

  return {
    get platform() {
      return platform
    },
    get telegram() {
      return telegram
    },
    call,
    settle,
    newBot,
    newPerson,
    connected,
    talking,
    personal,
    messages,
    dialog,
  }
}
