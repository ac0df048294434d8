import { beforeEach, describe, expect, it } from 'vitest'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { callbackToken } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { type ConversationClient, usingConversations } from './conversations-support.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)

beforeEach(() => {
  chats.received.length = 0
  platform.clock.advance(60_000)
})

const refused = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]

/** A person with a conversation with one agent, in a workspace with another. */
const trio = async () => {
  const { agent: stock, ann } = await chats.pair('Stock')
  const mail = await chats.agent({ ...chats.echo('Mail'), workspaceId: stock.workspaceId, name: 'Mail' })
  const chat = await ann.open(stock.installation.id)
  return { stock, mail, ann, chat }
}

const mention = (who: ConversationClient, conversation: string, text: string, installation: string) =>
  who.call('POST', `/console/conversations/${conversation}/messages`, { text, mention: installation })

/** Agents that were called, with what they were told. */
const told = (): string[] => chats.received.map((one) => JSON.stringify(one))

describe('a message that mentions an agent', () => {
  it('is answered by that agent in the same conversation, and the next message by the conversation’s own', async () => {
    const { mail, ann, chat } = await trio()
    const { status, body } = await mention(ann, chat, '@Mail write to Ada', mail.installation.id)
    expect([status, body.mention]).toEqual([201, { installation_id: mail.installation.id, name: 'Mail' }])
    await chats.settle()
    platform.clock.advance(1_000)
    await ann.say(chat, 'And you?')
    await chats.settle()
    const said = (await ann.messages(chat)).map(({ author, text }) => `${author.name}: ${text}`)
    expect(said).toEqual([
      `${ann.user.name}: @Mail write to Ada`,
      'Mail: Mail heard @Mail write to Ada',
      `${ann.user.name}: And you?`,
      expect.stringContaining('Stock heard And you?'),
    ])
    expect(await ann.list('?kind=agent')).toHaveLength(1)
  })

  it('in the main conversation leaves it to the orchestrator or the primary agent, also for what they read', async () => {
    const { stock, mail, ann } = await trio()
    const main = await ann.main()
    await ann.primary(stock.installation.id)
    await ann.say(main, 'First')
    await chats.settle()
    platform.clock.advance(1_000)
    await mention(ann, main, '@Mail second', mail.installation.id)
    await chats.settle()
    platform.clock.advance(1_000)
    await ann.say(main, 'Third')
    await chats.settle()
    expect((await ann.said(main)).filter((line) => line.startsWith('agent'))).toEqual([
      'agent: Stock heard First',
      'agent: Mail heard @Mail second',
      'agent: Stock heard Third',
    ])
    const read = await platform.call('GET', `/api/v1/conversations/${main}/messages`, { token: stock.token })
    expect(read.body.items).toHaveLength(6)
  })

  it('reaches the agent with this message only: the rest of the conversation doesn’t exist for it', async () => {
    const { mail, ann, chat } = await trio()
    await ann.say(chat, 'The password is 4711.')
    await chats.settle()
    chats.received.length = 0
    const { body } = await mention(ann, chat, '@Mail hello', mail.installation.id)
    const token = await callbackToken(platform.deps, mail, body.run_id)
    for (const [method, path, sent] of [
      ['GET', `/api/v1/conversations/${chat}/messages`, undefined],
      ['POST', `/api/v1/conversations/${chat}/messages`, { text: 'I stay.' }],
    ] as const) {
      const answer = await platform.call(method, path, { token, body: sent })
      expect(refused(answer), path).toEqual([404, 'not_found'])
    }
    await chats.settle()
    expect(told().some((text) => text.includes('@Mail hello'))).toBe(true)
    expect(told().some((text) => text.includes('4711'))).toBe(false)
  })

  it('waits for its turn like any other, and is then answered by the mentioned agent', async () => {
    const { mail, ann, chat } = await trio()
    await ann.say(chat, 'One')
    const { body } = await mention(ann, chat, '@Mail two', mail.installation.id)
    expect(body.run_id).toBeNull()
    await chats.settle()
    const answers = (await ann.said(chat)).filter((line) => line.startsWith('agent'))
    expect(answers).toEqual(['agent: Stock heard One', 'agent: Mail heard @Mail two'])
  })

  it.each(['chat:read', 'chat:write'] as Scope[])(
    'never reaches an agent without %s, held and not banned',
    async (scope) => {
      const { stock, mail, ann, chat } = await trio()
      await ann.say(chat, 'One')
      await mention(ann, chat, '@Mail a secret', mail.installation.id)
      await platform.deps.table.transact([
        WorkspaceEntity.update({ id: stock.workspaceId }, { set: { denied_scopes: [scope] } }),
      ])
      await chats.settle()
      expect(told().some((text) => text.includes('a secret'))).toBe(false)
      const answers = (await ann.messages(chat)).filter(({ author }) => author.name === 'Mail')
      expect(answers.map(({ error_code }) => error_code)).toEqual(['scope_denied_by_admin'])
      expect(refused(await mention(ann, chat, '@Mail again', mail.installation.id))).toEqual([409, 'conflict'])
    },
  )

  it('is refused for a suspended, uninstalled or foreign agent, and in a task’s conversation', async () => {
    const { stock, mail, ann, chat } = await trio()
    const foreign = await chats.pair('Foreign')
    expect(refused(await mention(ann, chat, 'Hi', foreign.agent.installation.id))).toEqual([404, 'not_found'])
    expect(refused(await mention(ann, chat, 'Hi', 'nobody'))).toEqual([404, 'not_found'])
    const task = (await ann.call('POST', '/console/tasks', { title: 'Count', installation_id: stock.installation.id }))
      .body
    expect(refused(await mention(ann, task.conversation_id, 'Hi', mail.installation.id))).toEqual([409, 'conflict'])
    await mail.set({ status: 'suspended' })
    expect(refused(await mention(ann, chat, 'Hi', mail.installation.id))).toEqual([403, 'installation_suspended'])
    await mail.set({ status: 'revoked' })
    expect(refused(await mention(ann, chat, 'Hi', mail.installation.id))).toEqual([404, 'not_found'])
    expect(await ann.messages(chat)).toEqual([])
  })

  it('of the conversation’s own agent is an ordinary message', async () => {
    const { stock, ann, chat } = await trio()
    const { body } = await mention(ann, chat, '@Stock hello', stock.installation.id)
    expect(body.mention).toBeNull()
    await chats.settle()
    expect((await ann.said(chat)).at(-1)).toBe('agent: Stock heard @Stock hello')
  })
})
