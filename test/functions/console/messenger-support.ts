import { afterAll, beforeAll } from 'vitest'
import { UserEntity } from '#shared/identity/people/entity.ts'
import { type Account, AccountEntity, type Thread, ThreadEntity } from '#shared/work/threads/entity.ts'
import type { member } from '#testkit/fixtures.ts'
import { startPlatform, succeeded, type TestPlatform } from '#testkit/platform.ts'
import { startTelegram, type TestTelegram } from '#testkit/telegram.ts'
import { newTeam } from './people-support.ts'

type Member = Awaited<ReturnType<typeof member>>

/** Starts a platform with its own Telegram, and functions for people's actions there and in the console. */
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
      body,
    })

  /** Handles everything pending at Telegram and on the platform. */
  const settle = async () => {
    await telegram.settled()
    await platform.drain()
  }

  /** Handles an update of the platform's bot, whenever Telegram sent it. */
  const arrive = async (update: object) => {
    const event = { id: 'evt_x', type: 'messenger.update', created_at: 0, workspace_id: 'platform' }
    const detail = { ...event, data: JSON.stringify({ update }) }
    await platform.deps.queues.send('messenger', [{ body: { 'detail-type': event.type, detail } }])
    await settle()
  }

  /** Creates a customer's bot that isn't connected yet. */
  const newBot = () => {
    const id = ++numbers
    return telegram.bot({
      token: `${id}:secret-part-of-a-token-${id}`,
      username: `customer_${id}_bot`,
      name: `Bot ${id}`,
    })
  }

  const newPerson = (name = 'Cleo') => telegram.person({ first_name: `${name} ${++numbers}` })

  /** Creates a workspace with an admin, people of these roles and a connected bot. */
  const connected = async (...roles: Parameters<typeof member>[2][]) => {
    const { workspaceId, people } = await newTeam(platform, 'admin', ...roles)
    const [admin, ...others] = people as [Member, ...Member[]]
    const bot = newBot()
    const answer = await call(admin, 'POST', '/accounts/bot', { token: bot.token })
    await succeeded(answer)
    const account = (await platform.deps.table.get(AccountEntity, {
      workspace_id: workspaceId,
      id: answer.body.id,
    })) as Account
    return { workspaceId, admin, others, bot, account, answer }
  }

  /** Creates the same with a contact who wrote to the bot. */
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

  /** Creates a member who signed in with Telegram and connected their account to the platform's bot there. */
  const personal = async (options: { canReply?: boolean; shared?: boolean } = {}) => {
    const { workspaceId, people } = await newTeam(platform, 'member', 'owner')
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

  const thread = async (workspaceId: string, id: string) =>
    (await platform.deps.table.get(ThreadEntity, { workspace_id: workspaceId, id })) as Thread

  return {
    get platform() {
      return platform
    },
    get telegram() {
      return telegram
    },
    call,
    settle,
    arrive,
    newBot,
    newPerson,
    connected,
    talking,
    personal,
    messages,
    thread,
  }
}
