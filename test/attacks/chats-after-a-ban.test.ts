import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import type { Scope } from '#shared/kernel/scopes.ts'
import { ACCEPT } from '#test/functions/api/agents-support.ts'
import { addMember, usingConversations } from '#test/functions/console/conversations-support.ts'
import { usingMessenger } from '#test/functions/console/messenger-support.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import type { TestPlatform } from '#testkit/platform.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)

const SECRET = 'The account number is 4711.'
const CHAT: Scope[] = ['chat:read', 'chat:write']

const refused = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]

const ban = (of: TestPlatform, workspaceId: string, ...denied_scopes: Scope[]) =>
  of.deps.table.transact([WorkspaceEntity.update({ id: workspaceId }, { set: { denied_scopes } })])

/** Returns true if the text reached an agent in any request. */
const wasTold = () => JSON.stringify(chats.received).includes(SECRET)

beforeEach(() => {
  chats.received.length = 0
})

describe('an agent without chat:read and chat:write', () => {
  it.each([
    [['runs:write', 'chat:read'], 'chat:write'],
    [['runs:write'], 'chat:read'],
  ] as [Scope[], Scope][])('with %j becomes no primary agent, and no one can chat with it', async (scopes, missing) => {
    const agent = await chats.agent({ ...chats.echo('Eve'), scopes })
    const ann = await addMember(platform, agent.workspaceId, 'owner')
    const primary = await ann.primary(agent.installation.id)
    expect(refused(primary)).toEqual([409, 'conflict'])
    expect(primary.body.error.details.required_scope).toBe(missing)
    const opened = await ann.call('POST', '/console/conversations', { installation_id: agent.installation.id })
    expect(refused(opened)).toEqual([409, 'conflict'])
    const { body } = await ann.call('GET', '/console/agents?all=true')
    expect(body.items).toMatchObject([{ slug: agent.slug, answers_chats: false }])
  })
})

describe.each(CHAT)('after an admin denied %s', (scope) => {
  it('the primary agent gives way to the orchestrator, and comes back with the scope', async () => {
    const { agent, ann } = await chats.pair('Eve')
    const main = await ann.main()
    await ann.primary(agent.installation.id)
    await ban(platform, agent.workspaceId, scope)
    await ann.say(main, SECRET)
    await chats.settle()
    expect(wasTold()).toBe(false)
    expect((await ann.messages(main)).at(-1)?.author.type).toBe('orchestrator')
    expect(refused(await ann.primary(agent.installation.id))).toEqual([409, 'conflict'])
    await ban(platform, agent.workspaceId)
    platform.clock.advance(1_000)
    await ann.say(main, 'Back?')
    await chats.settle()
    expect((await ann.said(main)).at(-1)).toBe('agent: Eve heard Back?')
  })

  it('an agent’s chat takes no message for it', async () => {
    const { agent, ann } = await chats.pair('Eve')
    const chat = await ann.open(agent.installation.id)
    await ban(platform, agent.workspaceId, scope)
    expect(refused(await ann.say(chat, SECRET))).toEqual([409, 'conflict'])
    expect(await ann.messages(chat)).toEqual([])
    // The chat itself stays readable.
    expect(await ann.open(agent.installation.id)).toBe(chat)
    await chats.settle()
    expect(chats.received).toEqual([])
  })

  it('a message that was written before isn’t sent to the agent', async () => {
    const { agent, ann } = await chats.pair('Eve')
    const chat = await ann.open(agent.installation.id)
    await ann.say(chat, SECRET)
    await ban(platform, agent.workspaceId, scope)
    await chats.settle()
    expect(wasTold()).toBe(false)
    expect((await ann.messages(chat)).at(-1)).toMatchObject({
      error_code: 'scope_denied_by_admin',
      text: expect.stringContaining('An admin of your workspace'),
    })
  })

  it('a message that waits for its turn isn’t, and a running agent’s answer isn’t posted', async () => {
    const { agent, ann } = await chats.pair('Eve')
    const chat = await ann.open(agent.installation.id)
    agent.behaves(() => ACCEPT)
    const { run_id } = (await ann.say(chat, 'Begin.')).body
    await chats.settle()
    platform.clock.advance(1_000)
    await ann.say(chat, SECRET)
    await chats.settle()
    await ban(platform, agent.workspaceId, scope)
    const token = await callbackToken(platform.deps, agent, run_id)
    const body = { status: 'succeeded', output: { text: 'I know something.' } }
    expect((await platform.call('POST', `/api/v1/runs/${run_id}/complete`, { token, body })).status).toBe(200)
    await chats.settle()
    expect(wasTold()).toBe(false)
    const after = await ann.messages(chat)
    expect(after.map(({ text }) => text).join()).not.toContain('I know something.')
    expect(after.filter(({ error_code }) => error_code === 'scope_denied_by_admin')).toHaveLength(3)
  })
})

describe('in a messenger thread', () => {
  const m = usingMessenger()
  beforeEach(() => m.platform.clock.advance(60_000))

  const assisted = async (scopes: readonly Scope[] = ['runs:write', ...CHAT]) => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const scene = await m.talking()
    const app = await installed(m.platform.deps, { workspaceId: scene.workspaceId, endpoint: receiver.url, scopes })
    const assign = () =>
      m.call(scene.admin, 'PATCH', `/chats/${scene.chatId}`, { installation_id: app.installation.id })
    return { ...scene, app, receiver, assign }
  }

  it.each(CHAT)('an agent can’t be assigned while an admin denies %s', async (scope) => {
    const scene = await assisted()
    await ban(m.platform, scene.workspaceId, scope)
    expect(refused(await scene.assign())).toEqual([409, 'conflict'])
  })

  it.each(CHAT)(
    'after an admin denied %s, the agent gets no event, and its answer doesn’t become a draft',
    async (scope) => {
      const scene = await assisted()
      expect((await scene.assign()).status).toBe(200)
      scene.receiver.answer({ kind: 'answer', status: 202 })
      scene.bot.say(scene.contact, 'Begin.')
      await m.settle()
      const [execute] = scene.receiver.requests.map(({ body }) => JSON.parse(body.toString()))
      await ban(m.platform, scene.workspaceId, scope)
      scene.bot.say(scene.contact, SECRET)
      await m.settle()
      const body = { status: 'succeeded', output: { text: 'I know something.' } }
      const token = await callbackToken(m.platform.deps, scene.app, execute.run.id)
      await m.platform.call('POST', `/api/v1/runs/${execute.run.id}/complete`, { token, body })
      await m.settle()
      expect(scene.receiver.requests).toHaveLength(1)
      const messages = await m.messages(scene.admin, scene.chatId)
      // People still see what the contact wrote.
      expect(messages.map(({ text }: { text: string }) => text)).toEqual(['Hello', 'Begin.', SECRET])
    },
  )
})
