import { beforeEach, describe, expect, it } from 'vitest'
import { NotificationEntity, notificationsOf } from '#shared/identity/notifications/entity.ts'
import { newTask } from '#shared/work/tasks/create.ts'
import { TaskEntity } from '#shared/work/tasks/entity.ts'
import { tasksOf } from '#test/functions/api/tasks-support.ts'
import { member } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { workOf } from './people-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => {
  platform.clock.advance(60_000)
  agent.answer({ kind: 'answer', status: 202 })
})

const titles = ({ body }: { body: { items: { title: string }[] } }) => body.items.map(({ title }) => title)

describe('a person’s task', () => {
  it('keeps its priority, due date, labels and files, and its agent sees them', async () => {
    const { task, read, asAgent, asPerson, person } = await tasksOf(platform, agent)
    const file = await platform.call('POST', '/console/files', {
      token: person.token,
      body: { name: 'list.csv', content_type: 'text/csv', content: 'a,b' },
    })
    const { id } = await task({
      priority: 'urgent',
      due_date: '2026-12-01',
      labels: ['stock', 'stock', 'Q4'],
      attachments: [file.body.id],
    })
    const kept = {
      priority: 'urgent',
      due_date: '2026-12-01',
      labels: ['stock', 'Q4'],
      attachments: [{ file_id: file.body.id, name: 'list.csv', content_type: 'text/csv', size: 3 }],
    }
    expect(await read(id)).toMatchObject(kept)
    expect((await asAgent('GET', `/${id}`)).body).toMatchObject(kept)
    const { body } = await asPerson('PATCH', `/${id}`, {
      priority: 'low',
      due_date: null,
      labels: [],
      attachments: [],
    })
    expect(body).toMatchObject({ priority: 'low', due_date: null, labels: [], attachments: [] })
    expect(await read(id)).toMatchObject({ title: 'Count the stock', priority: 'low', due_date: null })
  })

  it('refuses an impossible date, a label with hidden characters, another workspace’s file, and two assignees', async () => {
    const { asPerson, installation, person } = await tasksOf(platform, agent)
    const other = await tasksOf(platform, agent)
    const { body: foreign } = await platform.call('POST', '/console/files', {
      token: other.person.token,
      body: { name: 'a.txt', content_type: 'text/plain', content: 'a' },
    })
    const refused = async (fields: object) => {
      const { status, body } = await asPerson('POST', '', { title: 'A task', ...fields })
      return { status, fields: Object.keys((body.error?.details ?? body.details)?.fields ?? {}) }
    }
    expect(await refused({ due_date: '2026-02-30' })).toEqual({ status: 422, fields: ['due_date'] })
    expect(await refused({ labels: ['a\u202eb'] })).toEqual({ status: 422, fields: ['labels.0'] })
    expect(await refused({ attachments: [foreign.id] })).toEqual({ status: 422, fields: ['attachments.0'] })
    const both = { installation_id: installation.id, user_id: person.user.id }
    expect(await refused(both)).toEqual({ status: 422, fields: ['user_id'] })
    expect(await refused({ user_id: other.person.user.id })).toEqual({ status: 422, fields: ['user_id'] })
  })

  it('has an agent or a person, who hears of it unless they gave it to themselves', async () => {
    const { task, read, asPerson, installation, person } = await tasksOf(platform, agent)
    const { user } = await member(platform.deps, installation.workspace_id, 'member')
    const { id } = await task()
    const given = await asPerson('PATCH', `/${id}`, { user_id: user.id })
    expect(given.body).toMatchObject({ assignee: null, assigned_person: { user_id: user.id } })
    const { items } = await platform.deps.table.listed(
      NotificationEntity,
      notificationsOf(installation.workspace_id, user.id),
      { limit: 10 },
    )
    expect(items).toMatchObject([{ kind: 'task.assigned', target: { type: 'task', id } }])
    await asPerson('PATCH', `/${id}`, { user_id: person.user.id })
    const own = await platform.call('GET', '/console/notifications', { token: person.token })
    expect(own.body.items.filter(({ kind }: { kind: string }) => kind === 'task.assigned')).toEqual([])
    await asPerson('POST', `/${id}/run`, { installation_id: installation.id })
    expect(await read(id)).toMatchObject({
      assignee: { installation_id: installation.id },
      assigned_person: null,
    })
    await asPerson('PATCH', `/${id}`, { installation_id: null })
    expect(await read(id)).toMatchObject({ assignee: null, assigned_person: null })
  })

  it('shows the agent’s question until it is answered', async () => {
    const { handed, read, asAgent, asPerson } = await tasksOf(platform, agent)
    const { id } = await handed()
    await asAgent('POST', `/${id}/question`, { text: 'Which shelf?' })
    expect(await read(id)).toMatchObject({ status: 'discuss', question: { text: 'Which shelf?' } })
    await asPerson('POST', `/${id}/messages`, { text: 'The third.' })
    expect(await read(id)).toMatchObject({ status: 'in_progress', question: null })
  })

  it('takes comments with files', async () => {
    const { task, read, asPerson, person } = await tasksOf(platform, agent)
    const { id } = await task()
    const { body: file } = await platform.call('POST', '/console/files', {
      token: person.token,
      body: { name: 'a.txt', content_type: 'text/plain', content: 'a' },
    })
    await asPerson('POST', `/${id}/messages`, { text: 'See the file.', attachments: [file.id] })
    expect((await read(id)).conversation.messages).toMatchObject([{ attachments: [{ file_id: file.id }] }])
  })
})

describe('the workspace’s list of tasks', () => {
  it('is filtered by status, assignee, priority, label, due date and text', async () => {
    const { task, asPerson, installation, person } = await tasksOf(platform, agent)
    await task({ title: 'Order paper', priority: 'high', due_date: '2026-12-01', labels: ['office'] })
    const { id } = await task({ title: 'Call Ann', installation_id: undefined, user_id: person.user.id })
    await task({ title: 'Paint', installation_id: undefined, description: 'The WALL', due_date: '2026-12-24' })
    await asPerson('PATCH', `/${id}`, { status: 'done' })
    const found = async (query: string) => titles(await asPerson('GET', `?${query}`))
    expect(await found('')).toEqual(['Paint', 'Call Ann', 'Order paper'])
    expect(await found('status=done')).toEqual(['Call Ann'])
    expect(await found('status=todo')).toEqual(['Paint', 'Order paper'])
    expect(await found(`assignee_id=${installation.id}`)).toEqual(['Order paper'])
    expect(await found(`assignee_id=${person.user.id}`)).toEqual(['Call Ann'])
    expect(await found('assignee_id=none')).toEqual(['Paint'])
    expect(await found('priority=normal')).toEqual(['Paint', 'Call Ann'])
    expect(await found('label=office')).toEqual(['Order paper'])
    expect(await found('due_until=2026-12-01')).toEqual(['Order paper'])
    expect(await found('q=wall')).toEqual(['Paint'])
    expect(await found('q=OFF&status=todo')).toEqual(['Order paper'])
    expect((await asPerson('GET', '?status=lost')).status).toBe(422)
  })

  it('pages through rare tasks of a large workspace without missing or repeating one', async () => {
    const { asPerson, installation, person } = await tasksOf(platform, agent)
    const { workspace_id } = installation
    const work = workOf(platform)
    for (let i = 0; i < 1_205; i += 1) {
      const { task } = newTask(work, {
        workspace_id,
        title: `Task ${i}`,
        description: '',
        audience: 'member',
        chain_depth: 0,
        created_by: { type: 'user', id: person.user.id, name: 'Ann' },
        ...(i % 400 === 3 && { priority: 'urgent' }),
      })
      await platform.deps.table.transact([TaskEntity.create(task)])
      platform.clock.advance(1)
    }
    const seen: string[] = []
    let query = '?priority=urgent&limit=2'
    let pages = 0
    for (let more = true; more; pages += 1) {
      const { body } = await asPerson('GET', query)
      seen.push(...titles({ body }))
      more = body.has_more
      query = `?priority=urgent&limit=2&cursor=${body.next_cursor}`
    }
    expect(seen).toEqual(['Task 1203', 'Task 803', 'Task 403', 'Task 3'])
    expect(pages).toBeLessThanOrEqual(4)
  })
})
