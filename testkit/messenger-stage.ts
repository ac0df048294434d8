import { UserEntity } from '#shared/identity/people/entity.ts'
import { installed, member } from './fixtures.ts'
import type { TestPlatform } from './platform.ts'
import type { TestTelegram } from './telegram.ts'

let numbers = 500_000

/** Creates messenger accounts, threads and drafts for calls of their endpoints. */
export const messengerStage = (platform: TestPlatform, telegram: TestTelegram) => {
  const people = () => telegram.person({ first_name: `Contact ${++numbers}` })

  /** Creates a customer's bot that isn't connected yet. */
  const newBot = () => {
    const id = ++numbers
    return telegram.bot({ token: `${id}:a-token-of-the-contract-tests`, username: `contract_${id}_bot` })
  }

  /** Creates a workspace's bot with its agent. */
  const bot = async () => {
    const app = await installed(platform.deps)
    const { token } = app.person
    const made = newBot()
    const { body } = await platform.call('POST', '/console/messenger/accounts/bot', {
      token,
      body: { token: made.token },
    })
    return { app, token, bot: made, accountId: body.id as string }
  }

  /** Adds a person who wrote to the bot. */
  const chat = async () => {
    const scene = await bot()
    scene.bot.say(people(), 'Hello')
    await telegram.settled()
    const { body } = await platform.call('GET', '/console/messenger/chats', { token: scene.token })
    const [{ id, conversation_id }] = body.items
    platform.clock.advance(1_000)
    return { ...scene, chatId: id as string, conversationId: conversation_id as string }
  }

  /** Adds an agent's draft. */
  const draft = async () => {
    const scene = await chat()
    const path = `/console/messenger/chats/${scene.chatId}`
    const { id: installation_id } = scene.app.installation
    await platform.call('PATCH', path, { token: scene.token, body: { installation_id } })
    const answer = await platform.call('POST', `/api/v1/conversations/${scene.conversationId}/messages`, {
      token: scene.app.token,
      body: { text: 'May I?' },
    })
    return { ...scene, draftId: answer.body.id as string }
  }

  /** Creates a person who signed in with Telegram. */
  const fromTelegram = async () => {
    const { workspaceId } = await installed(platform.deps)
    const person = await member(platform.deps, workspaceId, 'owner')
    await platform.deps.table.transact([
      UserEntity.update({ id: person.user.id }, { set: { identity: `telegram:${people().id}` } }),
    ])
    return person
  }

  return { newBot, bot, chat, draft, fromTelegram }
}
