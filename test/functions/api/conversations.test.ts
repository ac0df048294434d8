import { describe, expect, it } from 'vitest'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { ConversationEntity, MessageEntity } from '#shared/work/conversations/entity.ts'
import { callbackToken, conversation, installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { filesOf } from './files-support.ts'

const platform = usingPlatform()

const talking = async () => {
  const app = await installed(platform.deps)
  const { id } = await conversation(platform.deps, app)
  const call = (method: string, path: string, body?: unknown) =>
    platform.call(method, `/api/v1/conversations${path}`, { token: app.token, body })
  return { app, id, call, path: `/${id}/messages` }
}

describe('conversations of an agent', () => {
  it('are listed by latest message', async () => {
    const { app, id, call, path } = await talking()
    platform.clock.advance(1_000)
    const later = await conversation(platform.deps, app)
    platform.clock.advance(1_000)
    expect((await call('GET', '')).body.items.map((one: { id: string }) => one.id)).toEqual([later.id, id])
    expect((await call('POST', path, { text: 'Here I am.' })).status).toBe(201)
    const { body } = await call('GET', '')
    expect(body.items.map((one: { id: string }) => one.id)).toEqual([id, later.id])
    expect(body.items[0]).toMatchObject({ kind: 'agent', title: 'With the agent', task_id: null })
  })
})

it('a lagging list omits a conversation that belongs to another agent by now', async () => {
  const { app, id } = await talking()
  const other = await installed(platform.deps, { workspaceId: app.workspaceId })
  const { table } = platform.deps
  const key = { workspace_id: app.workspaceId, id }
  const set = { installation_id: other.installation.id, title: 'Not for you' }
  await table.transact([ConversationEntity.update(key, { set })])
  // Its list entry is still under the previous agent.
  expect((await platform.call('GET', '/api/v1/conversations', { token: app.token })).body.items).toEqual([])
})

describe('messages', () => {
  it('fit into a response, whatever characters they consist of', async () => {
    const { app, id, call, path } = await talking()
    const text = '\u0001'.repeat(8_000)
    const author = { type: 'agent' as const, id: app.installation.id, name: 'Loud' }
    const attached = { file_id: 'fil_1', name: '名'.repeat(255), content_type: 'text/plain', size: 1 }
    const attachments = Array.from({ length: 10 }, () => attached)
    const common = { conversation_id: id, workspace_id: app.workspaceId, author, text, attachments }
    for (let n = 0; n < 10; n++) {
      const messages = Array.from({ length: 10 }, () => ({
        ...common,
        ...stampOf(newId('message', platform.clock.now())),
      }))
      await platform.deps.table.transact(messages.map((message) => MessageEntity.create(message)))
    }
    let seen = 0
    for (let cursor = ''; ; ) {
      const { body, text } = await call('GET', `${path}?limit=100${cursor}`)
      // The function's response holds the body as JSON text in JSON, limited to 6 MB.
      expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(6 * 1_024 * 1_024)
      seen += body.items.length
      if (!body.has_more) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(seen).toBe(101)
  })

  it('are read newest first, in pages', async () => {
    const { call, path } = await talking()
    for (let i = 0; i < 5; i++) {
      platform.clock.advance(100)
      await call('POST', path, { text: `message ${i}` })
    }
    const first = await call('GET', `${path}?limit=4`)
    expect(first.body.has_more).toBe(true)
    const rest = await call('GET', `${path}?limit=4&cursor=${first.body.next_cursor}`)
    const texts = [...first.body.items, ...rest.body.items].map((one: { text: string }) => one.text)
    expect(texts).toEqual(['message 4', 'message 3', 'message 2', 'message 1', 'message 0', 'Hello?'])
  })

  it('are written in the agent’s name and emitted as message.created with their author', async () => {
    const { app, id, call, path } = await talking()
    const { status, body } = await call('POST', path, { text: '  Done.  ' })
    expect(status).toBe(201)
    const author = { type: 'agent', id: app.installation.id, name: app.app.name }
    expect(body).toMatchObject({ conversation_id: id, author, text: 'Done.', attachments: [], run_id: null })
    await platform.drain()
    const events = await platform.call('GET', '/api/v1/events?types=message.*', { token: app.token })
    expect(events.body.items.at(-1).data).toEqual({ message_id: body.id, conversation_id: id, text: 'Done.', author })
  })

  it('are not written by a run that ends concurrently', async () => {
    const { app, id, call, path } = await talking()
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    const token = await callbackToken(platform.deps, app, run.id)
    const { table } = platform.deps
    const { get } = table
    table.get = (async (entity: { name: string }, fields: unknown) => {
      if (entity.name === ConversationEntity.name) {
        table.get = get
        await platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: app.token })
      }
      return (get as (...given: unknown[]) => unknown).call(table, entity, fields)
    }) as typeof get
    const late = await platform.call('POST', `/api/v1/conversations/${id}/messages`, { token, body: { text: 'Late.' } })
    expect(late.body.error?.code).toBe('run_already_finished')
    expect((await call('GET', path)).body.items).toHaveLength(1)
  })

  it('accept attachments from the same workspace only', async () => {
    const { app, call, path } = await talking()
    const own = await (await filesOf(platform, { workspaceId: app.workspaceId })).file({
      name: 'list.csv',
      content: 'a,b',
    })
    const foreign = await (await filesOf(platform)).file({ content: 'secret' })
    const { status, body } = await call('POST', path, { text: 'See this.', attachments: [own.id] })
    expect(status).toBe(201)
    expect(body.attachments).toEqual([{ file_id: own.id, name: 'list.csv', content_type: own.content_type, size: 3 }])
    const refused = await call('POST', path, { text: 'And this.', attachments: [own.id, foreign.id, 'nonsense'] })
    expect([refused.status, refused.body.error.code]).toEqual([422, 'validation_error'])
    expect(Object.keys(refused.body.error.details.fields)).toEqual(['attachments.1', 'attachments.2'])
  })

  it('accept no attachments where the workspace denies files:read', async () => {
    const { app, call, path } = await talking()
    const { id } = await (await filesOf(platform, { workspaceId: app.workspaceId })).file({ content: 'a,b' })
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: app.workspaceId }, { set: { denied_scopes: ['files:read'] } }),
    ])
    const { status, body } = await call('POST', path, { text: 'See.', attachments: [id] })
    expect([status, body.error?.code]).toEqual([403, 'scope_denied_by_admin'])
  })

  it('accept no attachments without files:read', async () => {
    const app = await installed(platform.deps, { scopes: ['chat:write'] })
    const { id } = await conversation(platform.deps, app)
    const answer = await platform.call('POST', `/api/v1/conversations/${id}/messages`, {
      token: app.token,
      body: { text: 'See this.', attachments: ['fil_01kae5m1v8w6c3x9q2r7t4y0zn'] },
    })
    expect([answer.status, answer.body.error.details.required_scope]).toEqual([403, 'files:read'])
  })
})
