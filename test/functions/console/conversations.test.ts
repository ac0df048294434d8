import { describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { UserEntity } from '#shared/identity/people/entity.ts'
import { MessageEntity } from '#shared/work/conversations/entity.ts'
import { ACCEPT } from '#test/functions/api/agents-support.ts'
import { filesOf } from '#test/functions/api/files-support.ts'
import { callbackToken, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { addMember, conversationsOf, usingConversations } from './conversations-support.ts'

const platform = usingPlatform()
const chats = usingConversations(platform)

/** Delivers the messages of `dispatch`, and drops all others. */
const deliverDispatches = async (): Promise<void> => {
  for (const message of platform.messages.splice(0)) {
    if (message.queue === 'dispatch') await platform.deliver(message)
  }
}

const refused = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]

describe('a person’s conversations', () => {
  it('include one main conversation from the start, even under concurrent first reads', async () => {
    const ann = await addMember(platform, (await workspace(platform.deps)).id)
    const [first, second] = await Promise.all([ann.list(), ann.list()])
    expect(first).toHaveLength(1)
    expect(first).toEqual(second)
    expect(first[0]).toMatchObject({ kind: 'main', answered_by: { type: 'orchestrator', name: 'Orchestrator' } })
    expect(await ann.list()).toEqual(first)
  })

  it('list the main conversation, agents and the workspace’s tasks, in pages, each once', async () => {
    const { agent, ann } = await chats.pair()
    const others = [
      await chats.agent({ workspaceId: agent.workspaceId }),
      await chats.agent({ workspaceId: agent.workspaceId }),
    ]
    for (const { installation } of [agent, ...others]) {
      platform.clock.advance(1_000)
      await ann.open(installation.id)
    }
    for (const title of ['One', 'Two', 'Three']) {
      platform.clock.advance(1_000)
      await ann.call('POST', '/console/tasks', {
        title,
        ...(title === 'Two' && { installation_id: agent.installation.id }),
      })
    }
    const names = [...others].reverse().map(({ app }) => app.name)
    const expected = ['Main chat', ...names, agent.app.name, 'Three', 'Two', 'One']
    expect((await ann.list()).map(({ title }) => title)).toEqual(expected)
    for (const limit of [1, 2, 3, 4, 5, 7]) {
      const seen: string[] = []
      let cursor = ''
      do {
        const { body } = await ann.call('GET', `/console/conversations?limit=${limit}${cursor}`)
        expect(body.items.length).toBeLessThanOrEqual(limit)
        seen.push(...body.items.map(({ title }: { title: string }) => title))
        expect(body.has_more).toBe(body.next_cursor !== null)
        cursor = body.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.next_cursor)}`
      } while (cursor !== '')
      expect(seen, `by ${limit}`).toEqual(expected)
    }
    const kinds = async (query: string) => (await ann.list(query)).map(({ title }) => title)
    expect(await kinds('?kind=task')).toEqual(['Three', 'Two', 'One'])
    expect(await kinds('?kind=agent')).toEqual([...names, agent.app.name])
    expect(await kinds(`?installation_id=${agent.installation.id}`)).toEqual([agent.app.name, 'Two'])
    expect(await kinds(`?installation_id=${agent.installation.id}&kind=task`)).toEqual(['Two'])
  })

  it('include one per agent, even when it is opened repeatedly and concurrently', async () => {
    const { agent, ann } = await chats.pair()
    const ids = await Promise.all(Array.from({ length: 5 }, () => ann.open(agent.installation.id)))
    expect(new Set(ids).size).toBe(1)
    expect(await ann.list('?kind=agent')).toHaveLength(1)
  })

  it('include as many with an agent as the person begins, and each is answered and listed by itself', async () => {
    const { agent, ann } = await chats.pair()
    const other = await chats.agent({ workspaceId: agent.workspaceId })
    agent.behaves(() => ({ status: 'succeeded', output: { text: 'Seven.' } }))
    const first = await ann.open(agent.installation.id)
    await ann.open(other.installation.id)
    const begin = async () => {
      platform.clock.advance(1_000)
      return ann.call('POST', '/console/conversations', { installation_id: agent.installation.id, new: true })
    }
    const [second, third] = [await begin(), await begin()]
    expect([second.status, third.status]).toEqual([201, 201])
    await ann.say(second.body.id, 'How many?')
    await chats.settle()
    expect((await ann.messages(second.body.id)).map(({ text }) => text)).toEqual(['How many?', 'Seven.'])
    expect(await ann.messages(first)).toEqual([])
    const ids = async (query: string) => (await ann.list(query)).map(({ id }) => id)
    const own = [third.body.id, second.body.id, first]
    expect(await ids(`?installation_id=${agent.installation.id}`)).toEqual(own)
    expect((await ids('?kind=agent')).filter((id) => own.includes(id))).toEqual(own)
    expect(await ann.open(agent.installation.id)).toBe(first)
    const stranger = (await chats.pair()).ann
    expect(
      refused(
        await stranger.call('POST', '/console/conversations', { installation_id: agent.installation.id, new: true }),
      ),
    ).toEqual([404, 'not_found'])
  })

  it('hide main and agent conversations from other members and workspaces', async () => {
    const { agent, ann } = await chats.pair()
    const main = await ann.main()
    const chat = await ann.open(agent.installation.id)
    await ann.say(chat, 'A secret.')
    await chats.settle()
    const owner = await addMember(platform, agent.workspaceId, 'owner')
    const foreign = (await chats.pair()).ann
    for (const other of [owner, foreign]) {
      for (const id of [main, chat]) {
        expect(refused(await other.call('GET', `/console/conversations/${id}/messages`))).toEqual([404, 'not_found'])
        expect(refused(await other.say(id, 'Let me in.'))).toEqual([404, 'not_found'])
      }
    }
    expect((await owner.list()).map(({ id }) => id)).not.toContain(chat)
    expect(
      refused(await foreign.call('POST', '/console/conversations', { installation_id: agent.installation.id })),
    ).toEqual([404, 'not_found'])
    expect(
      refused(await foreign.call('GET', `/console/conversations?installation_id=${agent.installation.id}`)),
    ).toEqual([404, 'not_found'])
  })

  it('hide their runs: other people can’t list, read, follow or decide them', async () => {
    const { agent, ann } = await chats.pair()
    const chat = await ann.open(agent.installation.id)
    agent.behaves(() => ACCEPT)
    const { run_id } = (await ann.say(chat, 'Look it up.')).body
    await chats.settle()
    const token = await callbackToken(platform.deps, agent, run_id)
    const asked = await chats.invoke(token, 'http_fetch', { url: `${chats.receiver.url}/page` })
    expect(asked.body.status).toBe('awaiting_approval')
    const decision = `/console/runs/${run_id}/steps/${asked.body.step_id}/decision`
    const owner = await addMember(platform, agent.workspaceId, 'owner')
    expect((await owner.call('GET', '/console/runs')).body.items).toEqual([])
    expect(refused(await owner.call('GET', `/console/runs/${run_id}`))).toEqual([404, 'not_found'])
    expect(refused(await owner.call('GET', `/console/runs/${run_id}/stream`))).toEqual([404, 'not_found'])
    expect(refused(await owner.call('POST', decision, { decision: 'approve' }))).toEqual([404, 'not_found'])
    expect((await ann.call('GET', '/console/runs')).body.items).toMatchObject([{ id: run_id, trigger: 'chat' }])
    expect((await ann.call('POST', decision, { decision: 'reject' })).status).toBe(200)
  })

  it('hide the questions asked of other agents for them, even those by calls without a run', async () => {
    const { agent, ann } = await chats.pair()
    const other = await chats.agent({ workspaceId: agent.workspaceId })
    const chat = await ann.open(agent.installation.id)
    agent.behaves(() => ACCEPT)
    const { run_id } = (await ann.say(chat, 'Ask about my salary.')).body
    await chats.settle()
    const tokens = { bound: await callbackToken(platform.deps, agent, run_id), unbound: agent.token }
    expect((await chats.asking(tokens.bound, other.slug, { arguments: { about: 'salary' } })).body.status).toBe('ok')
    expect((await chats.asking(tokens.unbound, other.slug, { arguments: { about: 'salary' } })).body.status).toBe('ok')
    const bob = await addMember(platform, agent.workspaceId, 'owner')
    expect((await bob.call('GET', '/console/runs')).body.items).toEqual([])
    expect((await ann.call('GET', '/console/runs')).body.items).toHaveLength(3)
    await platform.call('POST', `/api/v1/runs/${run_id}/complete`, {
      token: tokens.bound,
      body: { status: 'succeeded' },
    })
    expect((await chats.asking(tokens.unbound, other.slug)).body.status).toBe('ok')
    expect((await bob.call('GET', '/console/runs')).body.items).toHaveLength(1)
  })
})

describe('a message to an agent', () => {
  it('starts a run with the conversation, and the output’s text becomes the agent’s message', async () => {
    const { agent, ann } = await chats.pair('Ada')
    const chat = await ann.open(agent.installation.id)
    const { status, body } = await ann.say(chat, 'How many?')
    expect(status).toBe(201)
    await chats.settle()
    const [asked, answered] = await ann.messages(chat)
    expect(asked).toEqual(body)
    expect(answered).toMatchObject({
      author: { type: 'agent', id: agent.installation.id, name: agent.app.name },
      text: 'Ada heard How many?',
      run_id: body.run_id,
      error_code: null,
    })
    platform.clock.advance(1_000)
    await ann.say(chat, 'And now?')
    await chats.settle()
    const execute = chats.received.at(-1)
    expect(execute).toMatchObject({
      run: { trigger: 'chat', input: { text: 'And now?', conversation_id: chat } },
      actor: { id: ann.user.id, name: ann.user.name },
      chain: { depth: 0 },
      audience: 'member',
      conversation: {
        id: chat,
        kind: 'agent',
        message: { text: 'And now?', author: { type: 'user', id: ann.user.id } },
      },
    })
    expect(execute.conversation.messages.map(({ text }: { text: string }) => text)).toEqual([
      'How many?',
      'Ada heard How many?',
      'And now?',
    ])
    const run = await chats.runOf(agent.workspaceId, execute.run.id)
    expect(run).toMatchObject({
      status: 'succeeded',
      private_to: ann.user.id,
      message_id: execute.conversation.message.id,
    })
  })

  it('reaches the agent by one message, which the request sends, without the stream and the bus', async () => {
    const { agent, ann } = await chats.pair('Ada')
    const chat = await ann.open(agent.installation.id)
    await chats.settle()
    const before = chats.received.length
    const { body } = await ann.say(chat, 'How many?')
    expect(platform.messages.map(({ queue }) => queue)).toEqual(['dispatch'])
    expect(platform.outbox.map(({ type }) => type)).not.toContain('run.created')
    await platform.deliver(platform.messages.splice(0)[0] as never)
    expect(chats.received.slice(before).map(({ run }) => run.id)).toEqual([body.run_id])
    await chats.settle()
    expect(await ann.said(chat)).toEqual(['user: How many?', 'agent: Ada heard How many?'])
  })

  it('that waited for another one reaches the agent by one message, which the worker that takes it sends', async () => {
    const { agent, ann } = await chats.pair('Ada')
    const chat = await ann.open(agent.installation.id)
    await ann.say(chat, 'One')
    await ann.say(chat, 'Two')
    await deliverDispatches()
    const moved = platform.outbox.filter(({ type }) => type === 'chat.moved')
    platform.outbox.length = 0
    platform.messages.length = 0
    await platform.deps.bus.put(moved)
    await deliverDispatches()
    expect(platform.outbox.map(({ type }) => type)).not.toContain('run.created')
    const before = chats.received.length
    await deliverDispatches()
    expect(chats.received.slice(before).map(({ run }) => run.input.text)).toEqual(['Two'])
    await chats.settle()
  })

  it('names its attachments, and is refused and not stored when a file is unknown', async () => {
    const { agent, ann } = await chats.pair()
    const files = await filesOf(platform, { workspaceId: agent.workspaceId })
    const file = await files.file({ name: 'stock.csv', content: 'a,b' })
    const elsewhere = await (await filesOf(platform)).file()
    const chat = await ann.open(agent.installation.id)
    const wrong = await ann.say(chat, 'See this.', { attachments: [elsewhere.id] })
    expect(refused(wrong)).toEqual([422, 'validation_error'])
    expect(await ann.messages(chat)).toEqual([])
    await ann.say(chat, 'See this.', { attachments: [file.id] })
    await chats.settle()
    const named = [{ file_id: file.id, name: 'stock.csv' }]
    expect((await ann.messages(chat))[0]?.attachments).toMatchObject(named)
    expect(chats.received.at(-1).conversation.message.attachments).toMatchObject(named)
  })

  it.each([
    ['JSON for an output without a text', { status: 'succeeded', output: { n: 7 } }, '{"n":7}', null],
    ['a sentence for an empty output', { status: 'succeeded' }, 'The run finished without a reply.', null],
    [
      'the agent’s own message and code for a failure',
      { status: 'failed', error_code: 'no_stock', error_message: 'Nothing is left.' },
      'There’s no reply. Nothing is left. (no_stock)',
      'no_stock',
    ],
    [
      'a generic text for an invalid response',
      { status: 'nonsense' },
      'There’s no reply. The agent sent an invalid reply. (agent_invalid_response)',
      'agent_invalid_response',
    ],
  ])('is answered with %s', async (_what, answer, text, error_code) => {
    const { agent, ann } = await chats.pair()
    agent.behaves(() => answer)
    const chat = await ann.open(agent.installation.id)
    await ann.say(chat, 'Hm?')
    await chats.settle()
    expect((await ann.messages(chat))[1]).toMatchObject({ author: { type: 'agent' }, text, error_code })
  })

  it('is told what the platform says in the person’s language, while agents read it in English', async () => {
    const { agent, ann } = await chats.pair()
    const { table } = platform.deps
    await table.transact([UserEntity.update({ id: ann.user.id }, { set: { locale: 'de-AT' } })])
    agent.behaves(() => ({ status: 'nonsense' }))
    const chat = await ann.open(agent.installation.id)
    await ann.say(chat, 'Hm?')
    await chats.settle()
    const german = 'Es gibt keine Antwort. Der Agent hat eine ungültige Antwort gesendet. (agent_invalid_response)'
    expect((await ann.messages(chat))[1]?.text).toBe(german)
    const [listed] = (await ann.call('GET', '/console/conversations?kind=agent')).body.items
    expect(listed.last_message.text).toBe(german)
    const [found] = (await ann.call('GET', '/console/conversations?q=invalid')).body.items
    expect(found.match.text).toBe(german)
    const { items } = await table.query(MessageEntity, { conversation_id: chat }, { limit: 1 })
    expect(items[0]?.text).toBe('There’s no reply. The agent sent an invalid reply. (agent_invalid_response)')
  })

  it('may be answered by the agent’s own messages, and an output without a text adds none', async () => {
    const { agent, ann } = await chats.pair()
    const chat = await ann.open(agent.installation.id)
    agent.behaves(() => ACCEPT)
    const { run_id } = (await ann.say(chat, 'Go.')).body
    await chats.settle()
    const token = await callbackToken(platform.deps, agent, run_id)
    platform.clock.advance(1_000)
    await platform.call('POST', `/api/v1/conversations/${chat}/messages`, { token, body: { text: 'Here it is.' } })
    await platform.call('POST', `/api/v1/runs/${run_id}/complete`, {
      token,
      body: { status: 'succeeded', output: { n: 1 } },
    })
    await chats.settle()
    expect(await ann.said(chat)).toEqual(['user: Go.', 'agent: Here it is.'])
  })

  it('asks once for a required approval, and is answered after the decision', async () => {
    const { agent, ann } = await chats.pair()
    const chat = await ann.open(agent.installation.id)
    agent.behaves(() => ACCEPT)
    const { run_id } = (await ann.say(chat, 'Fetch it.')).body
    await chats.settle()
    const token = await callbackToken(platform.deps, agent, run_id)
    const { body } = await chats.invoke(token, 'http_fetch', { url: `${chats.receiver.url}/page` })
    await chats.settle()
    const waiting = (await ann.messages(chat)).slice(1)
    expect(waiting).toMatchObject([{ run_id, approval: { step_id: body.step_id, tool: 'http_fetch' } }])
    // The link opens a page for people, not an API endpoint.
    expect(waiting[0]?.text).toContain(`/app#/runs/${run_id}`)
    expect(waiting[0]?.text.split('\n').slice(0, 2)).toEqual([
      'The agent needs your approval to use http_fetch.',
      'Method: GET',
    ])
    for (let i = 0; i < 3; i++) {
      platform.clock.advance(900_000)
      await platform.sweep()
      await chats.settle()
    }
    expect(await ann.messages(chat)).toHaveLength(2)
    await ann.call('POST', `/console/runs/${run_id}/steps/${body.step_id}/decision`, { decision: 'reject' })
    const later = await callbackToken(platform.deps, agent, run_id)
    await platform.call('POST', `/api/v1/runs/${run_id}/complete`, {
      token: later,
      body: { status: 'succeeded', output: { text: 'Then not.' } },
    })
    await chats.settle()
    expect((await ann.said(chat)).at(-1)).toBe('agent: Then not.')
  })

  it('shows its run’s questions once, and is answered after them even if the output is empty', async () => {
    const { agent, ann } = await chats.pair()
    const bob = await addMember(platform, agent.workspaceId, 'owner')
    const chat = await ann.open(agent.installation.id)
    agent.behaves(() => ACCEPT)
    const { run_id } = (await ann.say(chat, 'Order boxes.')).body
    await chats.settle()
    const token = await callbackToken(platform.deps, agent, run_id)
    const { body } = await platform.call('POST', `/api/v1/runs/${run_id}/input-requests`, {
      token,
      body: { input_requests: { size: { message: 'How large?' }, hue: { message: 'Which color?' } } },
    })
    await chats.settle()
    for (let i = 0; i < 3; i++) {
      platform.clock.advance(900_000)
      await platform.sweep()
      await chats.settle()
    }
    expect((await ann.messages(chat)).slice(1)).toMatchObject([
      { run_id, text: 'How large?\n\nWhich color?', question: { step_id: body.step_id }, author: { type: 'agent' } },
    ])
    const answer = (who: typeof ann) =>
      who.call('POST', `/console/runs/${run_id}/input`, {
        responses: {
          size: { action: 'accept', content: { text: 'Large' } },
          hue: { action: 'decline' },
        },
      })
    expect((await answer(bob)).status).toBe(404)
    expect((await answer(ann)).status).toBe(200)
    await platform.call('POST', `/api/v1/runs/${run_id}/complete`, {
      token: await callbackToken(platform.deps, agent, run_id),
      body: { status: 'succeeded' },
    })
    await chats.settle()
    expect((await ann.said(chat)).slice(1)).toEqual([
      'agent: How large?\n\nWhich color?',
      'agent: The run finished without a reply.',
    ])
  })

  it('is refused when the agent is suspended or uninstalled, and the messages remain', async () => {
    const { agent, ann } = await chats.pair()
    const chat = await ann.open(agent.installation.id)
    await ann.say(chat, 'Hello.')
    await chats.settle()
    await platform.deps.table.transact([AppEntity.update(agent.app, { set: { status: 'suspended' } })])
    expect(refused(await ann.say(chat, 'Hello?'))).toEqual([403, 'app_suspended'])
    await platform.deps.table.transact([AppEntity.update(agent.app, { set: { status: 'approved' } })])
    await agent.set({ status: 'suspended' })
    expect(refused(await ann.say(chat, 'Hello?'))).toEqual([403, 'installation_suspended'])
    await agent.set({ status: 'revoked' })
    expect(refused(await ann.say(chat, 'Hello?'))).toEqual([409, 'conflict'])
    expect(await ann.messages(chat)).toHaveLength(2)
    expect(await ann.open(agent.installation.id)).toBe(chat)
  })
})

describe('the conversation of a task', () => {
  it('can be read and answered by every member, as through the task', async () => {
    const { agent, ann } = await chats.pair()
    const { body: task } = await ann.call('POST', '/console/tasks', {
      title: 'Count',
      installation_id: agent.installation.id,
    })
    await platform.call('POST', `/api/v1/tasks/${task.id}/question`, { token: agent.token, body: { text: 'Which?' } })
    const bob = await addMember(platform, agent.workspaceId)
    const [listed] = await bob.list('?kind=task')
    expect(listed).toMatchObject({ id: task.conversation_id, task_id: task.id, answered_by: { name: agent.app.name } })
    const files = await filesOf(platform, { workspaceId: agent.workspaceId })
    const file = await files.file({ name: 'shelf.txt', content: 'a' })
    const { body } = await bob.say(task.conversation_id, 'The blue ones.', { attachments: [file.id] })
    expect(body).toMatchObject({ text: 'The blue ones.', attachments: [{ name: 'shelf.txt' }] })
    await chats.settle()
    expect((await chats.runsOf(agent)).filter(({ task_id }) => task_id === task.id)).toHaveLength(1)
    expect((await ann.call('GET', `/console/tasks/${task.id}`)).body.status).toBe('in_progress')
  })
})

it('a person who left the workspace can’t read its conversations any more', async () => {
  const { agent, ann } = await chats.pair()
  const bob = await addMember(platform, agent.workspaceId)
  const chat = await bob.open(agent.installation.id)
  expect((await ann.call('DELETE', `/console/members/${bob.user.id}`)).status).toBe(204)
  expect((await bob.call('GET', `/console/conversations/${chat}/messages`)).status).toBe(401)
  expect(conversationsOf(platform, agent.person).user).toEqual(ann.user)
})
