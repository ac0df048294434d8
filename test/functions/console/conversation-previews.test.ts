import { beforeEach, describe, expect, it } from 'vitest'
import { usingPlatform } from '#testkit/using-platform.ts'
import { addMember, usingConversations } from './conversations-support.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)
beforeEach(() => platform.clock.advance(60_000))

describe('the list of conversations', () => {
  it('shows the beginning of the latest message, and marks an answer as unread until the person has seen it', async () => {
    const { agent, ann } = await chats.pair()
    agent.behaves(() => ({ status: 'succeeded', output: { text: `Seven\nboxes. ${'x'.repeat(300)}` } }))
    const chat = await ann.open(agent.installation.id)
    const read = async () => (await ann.call('GET', `/console/conversations/${chat}`)).body
    expect(await read()).toMatchObject({ last_message: null, unread: false })
    await ann.say(chat, 'How many?')
    expect(await read()).toMatchObject({ last_message: { author: { type: 'user' }, text: 'How many?' }, unread: false })
    await chats.settle()
    const now = await read()
    expect(now).toMatchObject({ last_message: { author: { type: 'agent' } }, unread: true })
    expect(now.last_message.text).toBe(`Seven\nboxes. ${'x'.repeat(127)}`)
    const [, answer] = await ann.messages(chat)
    const marked = await ann.call('PUT', `/console/conversations/${chat}/read`, { message_id: answer?.id })
    expect(marked.status).toBe(204)
    expect((await ann.list()).find(({ id }) => id === chat)).toMatchObject({ unread: false })
  })

  it('marks the conversation of a task only for those who created or opened it', async () => {
    const { agent, ann } = await chats.pair()
    const bob = await addMember(platform, agent.workspaceId)
    const { body: task } = await ann.call('POST', '/console/tasks', {
      title: 'Count',
      installation_id: agent.installation.id,
    })
    platform.clock.advance(1)
    const ask = (text: string) =>
      platform.call('POST', `/api/v1/tasks/${task.id}/question`, { token: agent.token, body: { text } })
    await ask('Which?')
    const unread = async (who: typeof ann) =>
      (await who.call('GET', `/console/conversations/${task.conversation_id}`)).body.unread
    expect([await unread(ann), await unread(bob)]).toEqual([true, false])
    const [first] = await bob.messages(task.conversation_id)
    const opened = await bob.call('PUT', `/console/conversations/${task.conversation_id}/read`, {
      message_id: first?.id,
    })
    expect(opened.status).toBe(204)
    platform.clock.advance(1_000)
    await ask('And where?')
    expect([await unread(ann), await unread(bob)]).toEqual([true, true])
  })

  it('lets nobody read or mark another person’s chat', async () => {
    const { agent, ann } = await chats.pair()
    const bob = await addMember(platform, agent.workspaceId)
    const chat = await ann.open(agent.installation.id)
    expect((await bob.call('GET', `/console/conversations/${chat}`)).status).toBe(404)
    const marked = await bob.call('PUT', `/console/conversations/${chat}/read`, { message_id: 'msg_0' })
    expect(marked.status).toBe(404)
  })
})
