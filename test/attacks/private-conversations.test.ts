import { describe, expect, it } from 'vitest'
import { ACCEPT } from '#test/functions/api/agents-support.ts'
import {
  addMember,
  type ConversationClient,
  conversationsOf,
  usingConversations,
} from '#test/functions/console/conversations-support.ts'
import { callbackToken } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)

/** Appears in everything that Ann's conversation causes, and in nothing else. */
const SECRET = 'redundancy list'

const invoke = async (token: string, tool: string, args: object, more: { run_id?: string } = {}) => {
  // All calls share the installation's rate limit.
  platform.clock.advance(200)
  return (await succeeded(chats.invoke(token, tool, args, more))).result
}

/** Creates Ann, a member whose private conversation is active, with an owner who watches and a second agent. */
const inPrivate = async () => {
  const agent = await chats.agent({ behaviour: () => ACCEPT })
  const other = await chats.agent({ behaviour: () => ACCEPT, workspaceId: agent.workspaceId })
  const owner = conversationsOf(platform, agent.person)
  const ann = await addMember(platform, agent.workspaceId)
  const chat = await ann.open(agent.installation.id)
  const { run_id } = await succeeded(ann.say(chat, `About my ${SECRET}.`))
  await chats.settle()
  const callback = await callbackToken(platform.deps, agent, run_id)
  return { agent, other, owner, ann, run_id: run_id as string, tokens: { callback, access: agent.token } }
}

/** Everything that a person sees in the console that a private conversation could cause, as text. */
const seenBy = async (person: ConversationClient): Promise<string> => {
  const read = async (path: string) => (await person.call('GET', path)).text
  const places = ['tasks', 'tasks?q=list', 'runs', 'inbox', 'notifications', 'conversations', 'conversations?kind=task']
  return (
    await Promise.all([...places.map((path) => read(`/console/${path}`)), read('/console/audit?limit=100')])
  ).join('\n')
}

describe.each(['callback', 'access'] as const)('what a private conversation causes with the %s token', (kind) => {
  it('is invisible to the workspace’s owner: tasks, their conversations, runs, notifications and ids in the audit', async () => {
    const { agent, other, owner, ann, run_id, tokens } = await inPrivate()
    const token = tokens[kind]
    const own = await invoke(token, 'create_task', { title: `Own ${SECRET}`, description: SECRET })
    const given = await invoke(token, 'delegate_task', { agent: other.slug, title: `Given ${SECRET}` })
    const waiting = await invoke(token, 'delegate_task', {
      agent: other.slug,
      title: `Waiting ${SECRET}`,
      start_now: false,
    })
    await invoke(token, 'notify_user', { title: `Done ${SECRET}`, body: SECRET })
    await invoke(token, 'ask_user', { question: `Which ${SECRET}?`, task_id: own.task_id })
    await chats.settle()
    // The second agent works on its task, and delegates and notifies in turn.
    await succeeded(
      platform.call('POST', `/api/v1/tasks/${given.task_id}/report`, {
        token: other.token,
        body: { text: `Reported ${SECRET}` },
      }),
    )
    const back = await invoke(other.token, 'delegate_task', { agent: agent.slug, title: `Back ${SECRET}` })
    await invoke(other.token, 'notify_user', { title: `Also ${SECRET}`, body: SECRET })
    await chats.settle()

    const ids = [own, given, waiting, back].flatMap(({ task_id, run_id: id, conversation_id }) => [
      task_id,
      ...(id ? [id] : []),
      ...(conversation_id ? [conversation_id] : []),
    ])
    const seen = await seenBy(owner)
    expect(seen).toContain('agent.called')
    for (const hidden of [SECRET, run_id, ...ids]) expect(seen, hidden).not.toContain(hidden)
    for (const { task_id } of [own, given, waiting, back]) {
      const path = `/console/tasks/${task_id}`
      const attempts = await Promise.all([
        owner.call('GET', path),
        owner.call('PATCH', path, { title: 'Mine' }),
        owner.call('POST', `${path}/run`, { installation_id: agent.installation.id }),
        owner.call('POST', `${path}/messages`, { text: 'Hello' }),
      ])
      expect(attempts.map(({ status }) => status)).toEqual([404, 404, 404, 404])
      const { conversation } = await succeeded(ann.call('GET', path))
      const messages = `/console/conversations/${conversation.id}/messages`
      const there = await Promise.all([owner.call('GET', messages), owner.call('POST', messages, { text: 'Hello' })])
      expect(there.map(({ status }) => status)).toEqual([404, 404])
    }
    // Everything is there for its person.
    const hers = await seenBy(ann)
    for (const text of ['Own', 'Given', 'Waiting', 'Back', 'Done', 'Also', 'Which']) {
      expect(hers, text).toContain(`${text} ${SECRET}`)
    }
  })
})

describe('a task of a private conversation', () => {
  it('is invisible in another person’s surface, and stays its person’s when it runs again or is handed on', async () => {
    const { agent, other, owner, ann, tokens } = await inPrivate()
    const { task_id } = await invoke(tokens.callback, 'create_task', { title: `Own ${SECRET}` })
    const surface = async (person: ConversationClient) =>
      (await succeeded(person.call('POST', `/console/installations/${agent.installation.id}/surface-token`))).token
    for (const [person, status] of [
      [owner, 404],
      [ann, 200],
    ] as const) {
      const token = await surface(person)
      const read = await platform.call('GET', `/api/v1/tasks/${task_id}`, { token })
      const lists = await Promise.all(
        ['tasks', 'tasks?status=todo', 'conversations'].map((path) =>
          platform.call('GET', `/api/v1/${path}`, { token }),
        ),
      )
      expect([read.status, ...lists.map(({ text }) => text.includes(SECRET))]).toEqual([
        status,
        ...Array(3).fill(status === 200),
      ])
    }
    const { run_id } = await succeeded(
      ann.call('POST', `/console/tasks/${task_id}/run`, { installation_id: other.installation.id }),
    )
    expect((await owner.call('GET', `/console/runs/${run_id}`)).status).toBe(404)
    expect((await ann.call('GET', `/console/tasks/${task_id}`)).body).toMatchObject({ is_private: true })
    const given = await ann.call('PATCH', `/console/tasks/${task_id}`, { user_id: owner.user.id })
    expect([given.status, given.body.error.details.fields]).toEqual([422, { user_id: ['can’t see this task'] }])
  })

  it('leaves the audit whole for its person, and says who called whom to others', async () => {
    const { owner, ann, other, run_id, tokens } = await inPrivate()
    const { task_id } = await invoke(tokens.callback, 'delegate_task', { agent: other.slug, title: SECRET })
    await succeeded(ann.call('POST', `/console/runs/${run_id}/cancel`))
    await chats.settle()
    const { items } = await succeeded(owner.call('GET', '/console/audit?limit=100'))
    const called = items.find(({ action }: { action: string }) => action === 'agent.called')
    expect(called).toMatchObject({
      subject: { type: 'agent', id: other.installation.id },
      details: { call: 'delegate_task', agent: other.slug, chain_depth: 1 },
    })
    const cancelled = items.find(({ action }: { action: string }) => action === 'run.cancelled')
    expect(cancelled).toMatchObject({ subject: { type: 'run', id: 'private' } })
    expect(JSON.stringify(items)).not.toContain(task_id)
    const bySubject = await succeeded(owner.call('GET', `/console/audit?subject=${run_id}`))
    expect(bySubject.items).toEqual([])
  })
})

describe('a call that names no run', () => {
  it('is refused while private conversations of several people are active, and says which parameter is missing', async () => {
    const { agent, other, tokens, run_id } = await inPrivate()
    const bob = await addMember(platform, agent.workspaceId)
    await succeeded(bob.say(await bob.open(agent.installation.id), 'Hello'))
    await chats.settle()
    for (const [tool, args] of [
      ['create_task', { title: 'Whose?' }],
      ['delegate_task', { title: 'Whose?', agent: other.slug }],
      ['notify_user', { title: 'Whose?', body: 'x' }],
      ['ask_user', { question: 'Whose?' }],
    ] as const) {
      platform.clock.advance(2_000)
      const { status, body } = await chats.invoke(tokens.access, tool, args)
      expect([status, body.error?.code, Object.keys(body.error?.details.fields ?? {})], tool).toEqual([
        422,
        'validation_error',
        ['run_id'],
      ])
    }
    expect((await invoke(tokens.access, 'create_task', { title: 'Ann’s' }, { run_id })).task_id).toBeDefined()
    await invoke(tokens.access, 'notify_user', { title: 'Bob', body: 'x', user_id: bob.user.id })
  })
})
