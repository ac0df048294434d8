import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { RunEntity, WorkspaceRunEntity } from '#shared/work/runs/entity.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { startReceiver, succeeds } from '#testkit/receiver.ts'
import { usingMessenger } from './messenger-support.ts'
import { listAudit } from './people-support.ts'

const m = usingMessenger()
beforeEach(() => m.platform.clock.advance(60_000))

/** Creates a thread with an agent whose runs succeed with the result of `output`. */
const assisted = async (output: () => object = () => ({}), ...roles: Parameters<typeof m.talking>) => {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  receiver.answer(() => succeeds({ output: output() }))
  const scene = await m.talking(...roles)
  const app = await installed(m.platform.deps, { workspaceId: scene.workspaceId, endpoint: receiver.url })
  const assign = (installation_id: string | null) =>
    m.call(scene.admin, 'PATCH', `/chats/${scene.chatId}`, { installation_id })
  const assigned = await assign(app.installation.id)
  const asAgent = (method: string, path: string, body?: unknown) =>
    m.platform.call(method, `/api/v1/conversations${path}`, { token: app.token, body })
  const draft = async (text: string) =>
    (await asAgent('POST', `/${scene.conversationId}/messages`, { text })).body.id as string
  const decide = (id: string, how: 'approve' | 'reject', body: object = {}, person = scene.admin) =>
    m.call(person, 'POST', `/messages/${id}/${how}`, body)
  const sentTexts = () => scene.bot.chat(scene.contact).flatMap(({ from, text }) => (from.is_bot ? [text] : []))
  const messages = () => m.messages(scene.admin, scene.chatId)
  return { ...scene, app, receiver, assign, assigned, asAgent, draft, decide, sentTexts, messages }
}

describe('an agent assigned to a thread', () => {
  it('reads it as a conversation, and its messages are drafts that members are notified of and contacts don’t see', async () => {
    const scene = await assisted()
    expect(scene.assigned.body.agent).toEqual({ installation_id: scene.app.installation.id, name: scene.app.app.name })
    const { items } = (await scene.asAgent('GET', '')).body
    expect(items).toMatchObject([{ id: scene.conversationId, kind: 'person', title: scene.contact.first_name }])
    const seen = (await scene.asAgent('GET', `/${scene.conversationId}/messages`)).body.items
    expect(seen).toMatchObject([{ text: 'Hello', status: 'received', author: { type: 'contact' } }])
    const written = await scene.asAgent('POST', `/${scene.conversationId}/messages`, { text: 'May I say this?' })
    expect([written.status, written.body.status, written.body.text]).toEqual([201, 'draft', 'May I say this?'])
    await m.settle()
    expect(scene.sentTexts()).toEqual([])
    const page = await m.platform.deps.table.query(
      NotificationEntity,
      { workspace_id: scene.workspaceId },
      { limit: 10 },
    )
    expect(page.items).toMatchObject([
      {
        kind: 'messenger.draft',
        target: { type: 'messenger_chat', id: scene.chatId },
        installation_id: scene.app.installation.id,
      },
    ])
    expect(page.items[0]).not.toHaveProperty('user_id')
    expect(JSON.stringify(page.items)).not.toContain('May I say this?')
  })

  it('has its draft in the inbox of those who see the thread until somebody decides', async () => {
    const scene = await assisted(undefined, 'member')
    const id = await scene.draft('One')
    const member = scene.others[0] as typeof scene.admin
    const inbox = async () => (await m.platform.call('GET', '/console/inbox', { token: member.token })).body.items
    expect(await inbox()).toMatchObject([{ kind: 'draft', id, text: 'One', chat_id: scene.chatId }])
    await scene.decide(id, 'reject')
    expect(await inbox()).toEqual([])
  })

  it('has its draft sent when a person approves it, unchanged or edited, and the audit names the person', async () => {
    const scene = await assisted(undefined, 'member')
    const first = await scene.draft('One')
    m.platform.clock.advance(10)
    const second = await scene.draft('Two')
    const member = scene.others[0] as typeof scene.admin
    const approved = await scene.decide(first, 'approve', {}, member)
    expect([approved.status, approved.body]).toMatchObject([
      200,
      { status: 'sending', text: 'One', decided_by: { id: member.user.id } },
    ])
    m.platform.clock.advance(10)
    expect((await scene.decide(second, 'approve', { text: 'Two, fixed' })).body.text).toBe('Two, fixed')
    await m.settle()
    expect(scene.sentTexts()).toEqual(['One', 'Two, fixed'])
    expect((await scene.messages()).slice(1).map((one: { status: string }) => one.status)).toEqual(['sent', 'sent'])
    const entries = (await listAudit(m.platform, scene.workspaceId)).filter(({ action }) => action.includes('draft'))
    expect(entries.map(({ action, actor, details }) => [action, actor.id, details.edited])).toEqual([
      ['messenger.draft_approved', member.user.id, false],
      ['messenger.draft_approved', scene.admin.user.id, true],
    ])
    expect(JSON.stringify(entries)).not.toContain('mended')
  })

  it('has its draft decided once under many concurrent approvals and rejections', async () => {
    const scene = await assisted()
    const id = await scene.draft('Exactly once')
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => scene.decide(id, i % 2 === 0 ? 'approve' : 'reject')),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
    const approved = answers.find(({ status }) => status === 200)?.body.status === 'sending'
    await m.settle()
    expect(scene.sentTexts()).toEqual(approved ? ['Exactly once'] : [])
    const late = await scene.decide(id, 'approve')
    expect([late.status, late.body.error.code]).toEqual([409, 'approval_already_decided'])
  })

  it('never has a rejected draft sent', async () => {
    const scene = await assisted()
    const id = await scene.draft('Rather not')
    expect((await scene.decide(id, 'reject')).body).toMatchObject({ status: 'rejected' })
    await m.settle()
    expect(scene.sentTexts()).toEqual([])
    expect((await scene.messages()).at(-1)).toMatchObject({ status: 'rejected', text: 'Rather not' })
  })

  it('runs for each incoming message with an external audience, and its output is a draft', async () => {
    const scene = await assisted(() => ({ text: 'We open at nine.' }))
    m.platform.clock.advance(2_000)
    scene.bot.say(scene.contact, 'When do you open?')
    await m.settle()
    const { deps } = m.platform
    const { items } = await deps.table.query(WorkspaceRunEntity, { workspace_id: scene.workspaceId }, { limit: 5 })
    expect(items).toHaveLength(1)
    const run = await deps.table.get(RunEntity, {
      installation_id: scene.app.installation.id,
      id: items[0]?.run_id ?? '',
    })
    expect(run).toMatchObject({
      status: 'succeeded',
      audience: 'external',
      trigger: 'messenger',
      conversation_id: scene.conversationId,
    })
    const [asked] = scene.receiver.requests
    const request = JSON.parse(String(asked?.body))
    expect(request).toMatchObject({ audience: 'external', run: { input: { text: 'When do you open?' } } })
    expect(request.conversation.messages.at(-1)).toMatchObject({
      text: 'When do you open?',
      author: { type: 'contact' },
    })
    expect(scene.sentTexts()).toEqual([])
    const draft = (await scene.messages()).at(-1)
    expect(draft).toMatchObject({
      status: 'draft',
      text: 'We open at nine.',
      run_id: run?.id,
      author: { type: 'agent' },
    })
    await scene.decide(draft.id, 'approve')
    await m.settle()
    expect(scene.sentTexts()).toEqual(['We open at nine.'])
  })

  it('receives one event for each incoming message and each message of a member', async () => {
    const scene = await assisted()
    const since = await m.platform.call('GET', '/api/v1/events', { token: scene.app.token })
    m.platform.clock.advance(2_000)
    const id = scene.bot.say(scene.contact, 'Something new')
    await m.settle()
    await scene.bot.redeliver(id)
    await m.call(scene.admin, 'POST', `/chats/${scene.chatId}/messages`, { text: 'From a person' })
    await m.settle()
    expect(since.status).toBe(200)
    const { body } = await m.platform.call('GET', '/api/v1/events?limit=100', { token: scene.app.token })
    const created = body.items.filter(({ type }: { type: string }) => type === 'message.created')
    expect(
      created.map(({ data }: { data: { text: string; author: { type: string } } }) => [data.text, data.author.type]),
    ).toEqual(
      expect.arrayContaining([
        ['Something new', 'contact'],
        ['From a person', 'user'],
      ]),
    )
    expect(created).toHaveLength(2)
  })

  it('misses no message while five of its runs are active', async () => {
    const scene = await assisted()
    for (let i = 0; i < 7; i++) scene.bot.say(scene.contact, `Question ${i}`)
    await m.telegram.settled()
    const { items } = await m.platform.deps.table.query(
      WorkspaceRunEntity,
      { workspace_id: scene.workspaceId },
      { limit: 20 },
    )
    expect(items).toHaveLength(5)
    expect(await scene.messages()).toHaveLength(8)
    await m.settle()
  })

  it('can’t read or write after it was removed, and the next agent sees the whole thread', async () => {
    const scene = await assisted()
    await scene.draft('From the first')
    const other = await installed(m.platform.deps, { workspaceId: scene.workspaceId })
    expect((await scene.assign(other.installation.id)).status).toBe(200)
    expect((await scene.asAgent('GET', `/${scene.conversationId}/messages`)).status).toBe(404)
    expect((await scene.asAgent('POST', `/${scene.conversationId}/messages`, { text: 'x' })).status).toBe(404)
    expect((await scene.asAgent('GET', '')).body.items).toEqual([])
    const path = `/api/v1/conversations/${scene.conversationId}/messages`
    const { body } = await m.platform.call('GET', path, { token: other.token })
    expect(body.items.map(({ text }: { text: string }) => text)).toEqual(['From the first', 'Hello'])
    expect((await scene.assign(null)).body.agent).toBeNull()
    expect((await m.platform.call('GET', path, { token: other.token })).status).toBe(404)
  })

  it('requires the thread scopes and the same workspace, and can’t send what Telegram would refuse', async () => {
    const scene = await assisted()
    const reader = await installed(m.platform.deps, { workspaceId: scene.workspaceId, scopes: ['chat:read'] })
    expect((await scene.assign(reader.installation.id)).body.error.code).toBe('conflict')
    const foreign = await installed(m.platform.deps)
    expect((await scene.assign(foreign.installation.id)).body.error.code).toBe('validation_error')
    const path = `/${scene.conversationId}/messages`
    expect((await scene.asAgent('POST', path, { text: 'x'.repeat(4_097) })).body.error.code).toBe('validation_error')
    const attached = await scene.asAgent('POST', path, { text: 'x', attachments: ['fil_01kae5m1v8w6c3x9q2r7t4y0zn'] })
    expect(attached.body.error.code).toBe('validation_error')
  })

  it('drafts for its workspace only, and a disconnected account sends no drafts', async () => {
    const scene = await assisted()
    const id = await scene.draft('For here')
    const other = await m.connected()
    for (const how of ['approve', 'reject'] as const) {
      expect((await scene.decide(id, how, {}, other.admin)).status).toBe(404)
    }
    scene.bot.revoke()
    await m.call(scene.admin, 'POST', `/chats/${scene.chatId}/messages`, { text: 'x' })
    await m.settle()
    const answer = await scene.decide(id, 'approve')
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict'])
    expect((await m.call(scene.admin, 'DELETE', `/accounts/${scene.account.id}`)).status).toBe(204)
    expect((await scene.decide(id, 'approve')).status).toBe(404)
    await m.settle()
    expect((await scene.asAgent('GET', '')).body.items).toEqual([])
  })

  it('notifies only the owner of a personal account while that isn’t shared', async () => {
    const scene = await m.personal()
    m.telegram.business.say(scene.connection.id, m.newPerson(), 'Hi Ada')
    await m.settle()
    const chat = (await m.call(scene.person, 'GET', '/chats')).body.items[0]
    const app = await installed(m.platform.deps, { workspaceId: scene.workspaceId })
    await m.call(scene.person, 'PATCH', `/chats/${chat.id}`, { installation_id: app.installation.id })
    const path = `/api/v1/conversations/${chat.conversation_id}/messages`
    const { body } = await m.platform.call('POST', path, { token: app.token, body: { text: 'Dear …' } })
    const page = await m.platform.deps.table.query(
      NotificationEntity,
      { workspace_id: scene.workspaceId },
      { limit: 10 },
    )
    expect(page.items.map(({ user_id }) => user_id)).toEqual([scene.person.user.id])
    expect((await m.call(scene.owner, 'POST', `/messages/${body.id}/approve`, {})).status).toBe(404)
    expect((await m.call(scene.person, 'POST', `/messages/${body.id}/approve`, {})).status).toBe(200)
  })

  it('shows a personal account’s thread through its page to that person only, until it is shared', async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    receiver.answer({ kind: 'answer', status: 202 })
    const scene = await m.personal()
    const contact = m.newPerson()
    m.telegram.business.say(scene.connection.id, contact, 'Hi Ada')
    await m.settle()
    const chat = (await m.call(scene.person, 'GET', '/chats')).body.items[0]
    const app = await installed(m.platform.deps, { workspaceId: scene.workspaceId, endpoint: receiver.url })
    await m.call(scene.person, 'PATCH', `/chats/${chat.id}`, { installation_id: app.installation.id })
    const messages = `/conversations/${chat.conversation_id}/messages`
    const spoken = async (text: string) => {
      m.platform.clock.advance(2_000)
      m.telegram.business.say(scene.connection.id, contact, text)
      await m.settle()
      await m.platform.call('POST', `/api/v1${messages}`, { token: app.token, body: { text: 'Dear …' } })
      await m.settle()
    }
    await spoken('Between us')
    const surface = async ({ token }: typeof scene.person): Promise<string> =>
      (await m.platform.call('POST', `/console/installations/${app.installation.id}/surface-token`, { token })).body
        .token
    const seen = async (token: string) => {
      const get = (path: string) => m.platform.call('GET', `/api/v1${path}`, { token })
      return {
        conversations: (await get('/conversations')).body.items.map(({ kind }: { kind: string }) => kind),
        messages: (await get(messages)).status,
        runs: (await get('/runs')).body.items.length,
        events: (await get('/events')).body.items.map(({ type }: { type: string }) => type).sort(),
      }
    }
    const types = ['message.created', 'notification.created', 'run.created']
    const everything = { conversations: ['person'], messages: 200, runs: 1, events: types }
    const nothing = { conversations: [], messages: 404, runs: 0, events: [] }
    expect(await seen(await surface(scene.person))).toEqual(everything)
    expect(await seen(app.token)).toEqual(everything)
    expect(await seen(await surface(scene.owner))).toEqual(nothing)
    await m.call(scene.person, 'PATCH', `/accounts/${scene.id}`, { shared: true })
    await spoken('For all')
    // Earlier events remain private to their person.
    expect(await seen(await surface(scene.owner))).toEqual(everything)
    await m.call(scene.person, 'PATCH', `/accounts/${scene.id}`, { shared: false })
    expect(await seen(await surface(scene.owner))).toMatchObject({ conversations: [], messages: 404 })
  })

  it('receives the result of its delegated task as an event, and can’t post it without a person', async () => {
    const scene = await assisted()
    scene.receiver.answer({ kind: 'answer', status: 202 })
    m.platform.clock.advance(2_000)
    scene.bot.say(scene.contact, 'How many are left?')
    await m.settle()
    const { deps, call } = m.platform
    const { items } = await deps.table.query(WorkspaceRunEntity, { workspace_id: scene.workspaceId }, { limit: 1 })
    const token = await callbackToken(deps, scene.app, items[0]?.run_id ?? '')
    const other = await installed(deps, { workspaceId: scene.workspaceId })
    const { body } = await call('POST', '/api/v1/tools/delegate_task/invoke', {
      token,
      body: { arguments: { agent: other.app.slug, title: 'Count', start_now: false } },
    })
    const before = await scene.messages()
    const report = `/api/v1/tasks/${body.result.task_id}/report`
    expect((await call('POST', report, { token: other.token, body: { text: 'Seven.' } })).status).toBe(200)
    await m.settle()
    expect(await scene.messages()).toEqual(before)
    const events = await call('GET', '/api/v1/events?types=task.result', { token: scene.app.token })
    expect(events.body.items).toMatchObject([{ data: { text: 'Seven.' } }])
  })
})
