import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { SeedEntity } from '#shared/agents/sandbox/entity.ts'
import { AppEntity, ListedAppEntity } from '#shared/catalogue/apps/entity.ts'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConversationEntity, MessageEntity } from '#shared/work/conversations/entity.ts'
import { FileEntity, FolderEntity, LooseObjectEntity } from '#shared/work/files/entity.ts'
import { contents, difference } from '#testkit/contents.ts'
import { newApp, newDeveloper, publish, type TestDeveloper } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { startPlatform, succeeded, type TestPlatform } from '#testkit/platform.ts'

const PATH = '/api/v1/dev/sandbox/seed'
const COUNTS = { tasks: 4, runs: 5, files: 3, folders: 2, notifications: 3, conversations: 5, messages: 3 }

let platform: TestPlatform
let developer: TestDeveloper
// One platform per test: the marketplace is shared, and the whole table is compared.
beforeEach(async () => {
  platform = await startPlatform()
  developer = await newDeveloper(platform)
})
afterEach(() => platform.stop())

/** Lists another developer's app in the marketplace. */
const list = async () => {
  const { app } = await installed(platform.deps)
  await platform.deps.table.transact([
    ListedAppEntity.create({ app_id: app.id, listed_at: platform.clock.now(), words: [], places: [], revision: 1 }),
  ])
  return app
}

const seed = () => succeeded(developer.call('POST', PATH))

/** Counts the objects of files. The audit's anchors are objects as well. */
const files = () => [...platform.objects.keys()].filter((key) => key.startsWith('files/')).length

const unseed = async () => expect((await developer.call('DELETE', PATH)).status).toBe(204)

const quota = async () => {
  const { table } = platform.deps
  const [files, bytes] = await Promise.all(
    ['files', 'file-bytes'].map((counter) => table.get(CounterEntity, { owner: developer.workspaceId, counter })),
  )
  return [files?.n ?? 0, bytes?.n ?? 0]
}

const inSandbox = { limit: 100 }
const workspace = () => ({ workspace_id: developer.workspaceId })

/** Creates the developer's own app in the sandbox, with a token that shows what agents see. */
const ownAgent = async () => {
  const app = await newApp(developer, {
    requested_scopes: ['tasks:read', 'runs:read', 'files:read', 'files:write', 'chat:read', 'chat:write'],
  })
  await publish(developer, app)
  const { body } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
  return { app, token: body.access_token as string, id: body.installation_id as string }
}

describe('seeding the sandbox', () => {
  it('is marketplace_empty with a next step when no app is listed', async () => {
    const { status, body } = await developer.call('POST', PATH)
    expect([status, body.error.code]).toEqual([409, 'marketplace_empty'])
    expect(body.error.fix).toContain('/submit')
    const app = await list()
    await platform.deps.table.transact([AppEntity.update({ id: app.id }, { set: { status: 'suspended' } })])
    expect((await developer.call('POST', PATH)).body.error.code, 'the index lags behind a suspension').toBe(
      'marketplace_empty',
    )
  })

  it('installs a listed agent when there is none, and returns the number of records of each kind', async () => {
    const app = await list()
    expect(await seed()).toEqual({ workspace_id: developer.workspaceId, ...COUNTS, installations: 1 })
    const { items } = await platform.deps.table.query(InstallationEntity, workspace(), inSandbox)
    expect(items).toMatchObject([{ app_id: app.id, status: 'active', is_sandbox: true }])
  })

  it('gives the developer’s own agent tasks, runs and a conversation, without any call', async () => {
    await list()
    const agent = await ownAgent()
    await platform.drain()
    expect(await seed()).toMatchObject({ ...COUNTS, installations: 0 })
    expect(platform.outbox).toEqual([])
    expect(platform.messages).toEqual([])
    const get = async (path: string) => (await platform.call('GET', path, { token: agent.token })).body
    const tasks = await get('/api/v1/tasks')
    expect(tasks.items.map(({ status }: { status: string }) => status)).toEqual([
      'todo',
      'in_progress',
      'review',
      'done',
    ])
    expect((await get('/api/v1/tasks?status=review')).items).toHaveLength(1)
    expect((await get(`/api/v1/tasks/${tasks.items[0].id}`)).conversation.messages).toEqual([])
    const runs = await get('/api/v1/runs')
    expect(runs.items).toHaveLength(5)
    expect((await get('/api/v1/runs?status=failed')).items).toMatchObject([{ error_code: 'price_list_missing' }])
    const run = await get(`/api/v1/runs/${runs.items[0].id}`)
    expect(run).toMatchObject({
      status: 'succeeded',
      trigger: 'seed',
      duration_ms: 3_000,
      steps: [{ type: 'message' }],
    })
    const talks = await get('/api/v1/conversations')
    expect(talks.items).toHaveLength(5)
    const talk = talks.items.find(({ kind }: { kind: string }) => kind === 'agent')
    const posted = await get(`/api/v1/conversations/${talk.id}/messages`)
    expect(posted.items.map(({ author }: { author: { type: string } }) => author.type)).toEqual([
      'user',
      'agent',
      'user',
    ])
  })

  it('creates a customer list with phone numbers as CSV in the folder Contacts', async () => {
    await list()
    await seed()
    const { table } = platform.deps
    const { items: folders } = await table.query(FolderEntity, workspace(), inSandbox)
    const { items: files } = await table.query(FileEntity, workspace(), inSandbox)
    const customers = files.find(({ name }) => name === 'customers.csv')
    expect(folders.find(({ id }) => id === customers?.folder_id)?.name).toBe('Contacts')
    expect(customers).toMatchObject({ content_type: 'text/csv', status: 'ready' })
    const object = platform.objects.get(`files/${developer.workspaceId}/${customers?.id}`)
    expect(new TextDecoder().decode(object)).toMatch(/^name,company,phone.*\r\n.*\+1 202 555 01\d\d/)
    const size = files.reduce((sum, file) => sum + file.size, 0)
    expect(await quota()).toEqual([3, size])
    const { items: marks } = await table.query(LooseObjectEntity, workspace(), inSandbox)
    expect(marks).toEqual([])
  })

  it('replaces the previous seed when repeated', async () => {
    await list()
    await ownAgent()
    await platform.drain()
    const empty = await contents(platform)
    await seed()
    const once = difference(empty, await contents(platform))
    const first = await platform.deps.table.get(SeedEntity, workspace())
    platform.clock.advance(1_000)
    await seed()
    expect(difference(empty, await contents(platform))).toEqual(once)
    const second = await platform.deps.table.get(SeedEntity, workspace())
    expect(second?.task_ids.filter((id) => first?.task_ids.includes(id))).toEqual([])
    expect(files()).toBe(3)
  })

  it('respects the quota for files', async () => {
    await list()
    const bytes = { owner: developer.workspaceId, counter: 'file-bytes' }
    const full = { ...bytes, n: LIMITS.fileBytesPerWorkspace }
    await platform.deps.table.transact([CounterEntity.replace(full)])
    const { status, body } = await developer.call('POST', PATH)
    expect([status, body.error.code]).toEqual([403, 'forbidden'])
    expect(await platform.deps.table.get(SeedEntity, workspace())).toBeUndefined()
  })

  it('leaves one seed under four concurrent requests, and the sweeper deletes the objects of the others', async () => {
    await list()
    const answers = await Promise.all(Array.from({ length: 4 }, () => developer.call('POST', PATH)))
    expect(answers.some(({ status }) => status === 200)).toBe(true)
    for (const { status, text } of answers) expect([200, 409], text).toContain(status)
    platform.clock.advance(LIMITS.idempotencyLife + 2 * 3_600_000)
    await platform.sweep()
    const { table } = platform.deps
    expect((await table.query(FileEntity, workspace(), inSandbox)).items).toHaveLength(3)
    expect((await table.query(NotificationEntity, workspace(), inSandbox)).items).toHaveLength(3)
    expect((await table.query(ConversationEntity, workspace(), inSandbox)).items).toHaveLength(5)
    expect(files()).toBe(3)
    expect((await quota())[0]).toBe(3)
  })
})

describe('removing the seed', () => {
  it('restores the table, deletes the objects and releases the quota', async () => {
    await list()
    await ownAgent()
    await platform.drain()
    const empty = await contents(platform)
    await seed()
    await unseed()
    // Only counters that start with the first file remain.
    expect(difference(empty, await contents(platform))).toEqual({ 'new counter': 2 })
    expect([await quota(), files()]).toEqual([[0, 0], 0])
    await unseed()
  })

  it('uninstalls the agent that it installed, unless it was used', async () => {
    await list()
    await seed()
    await unseed()
    const statuses = async () =>
      (await platform.deps.table.query(InstallationEntity, workspace(), inSandbox)).items.map(({ status }) => status)
    expect(await statuses()).toEqual(['revoked'])
    expect(platform.outbox.map(({ type }) => type)).toContain('installation.removed')
    platform.clock.advance(1_000)
    const { installations } = await seed()
    expect([installations, await statuses()]).toEqual([1, ['active', 'revoked']])
  })

  it('keeps data added by others: a folder with another file, another task, a conversation with another message', async () => {
    await list()
    const agent = await ownAgent()
    await seed()
    const call = (path: string, body: unknown) => platform.call('POST', path, { token: agent.token, body })
    const { table } = platform.deps
    const { items: folders } = await table.query(FolderEntity, workspace(), inSandbox)
    const contacts = folders.find(({ name }) => name === 'Contacts')
    const file = await call('/api/v1/files', {
      name: 'mine.txt',
      content_type: 'text/plain',
      content: 'mine',
      folder_id: contacts?.id,
    })
    expect(file.status, file.text).toBe(201)
    const talk = (await table.get(SeedEntity, workspace()))?.conversation_ids.at(-1) as string
    expect((await call(`/api/v1/conversations/${talk}/messages`, { text: 'One more.' })).status).toBe(201)
    await unseed()
    expect((await table.query(FolderEntity, workspace(), inSandbox)).items).toEqual([contacts])
    expect((await table.query(FileEntity, workspace(), inSandbox)).items.map(({ name }) => name)).toEqual(['mine.txt'])
    expect(await quota()).toEqual([1, 4])
    const { items: orphans } = await table.query(MessageEntity, { conversation_id: talk }, inSandbox)
    expect(orphans, 'messages of deleted conversations').toEqual([])
  })

  it('doesn’t release the quota of a file that was deleted before', async () => {
    await list()
    const agent = await ownAgent()
    await seed()
    const { items } = await platform.deps.table.query(FileEntity, workspace(), inSandbox)
    const path = `/api/v1/files/${items[0]?.id}`
    expect((await platform.call('DELETE', path, { token: agent.token })).status).toBe(204)
    await unseed()
    expect(await quota()).toEqual([0, 0])
  })

  it('is completed by the next request when it crashed after any write', async () => {
    await list()
    await ownAgent()
    await platform.drain()
    const empty = await contents(platform)
    const { table } = platform.deps
    const transact = table.transact.bind(table)
    for (let n = 1; ; n++) {
      await seed()
      let writes = 0
      table.transact = async (given) => {
        if (writes >= n) throw new Error('the process is dead')
        await transact(given)
        if (++writes === n) throw new Error('the process died')
      }
      const { status } = await developer.call('DELETE', PATH)
      table.transact = transact
      if (status === 204 && writes < n) break
      await unseed()
      platform.clock.advance(120_000)
      await platform.sweep()
      expect(difference(empty, await contents(platform)), `after write ${n}`).toEqual({
        'new counter': 2,
        'new sweep-mark': 1,
      })
      expect([await quota(), files()]).toEqual([[0, 0], 0])
      expect(n).toBeLessThan(12)
    }
  })
})

describe('the marketplace’s list', () => {
  it('includes an app once it is approved, except while it is suspended', async () => {
    const { app } = await installed(platform.deps)
    await platform.deps.table.transact([AppEntity.update({ id: app.id }, { set: { status: 'in_review' } })])
    const act = (action: string, body?: unknown) =>
      platform.call('POST', `/admin/apps/${app.id}/${action}`, { headers: { 'x-admin-key': 'local-admin-key' }, body })
    const listed = async () => (await platform.deps.table.get(ListedAppEntity, { app_id: app.id })) !== undefined
    expect(await listed()).toBe(false)
    const seen = []
    for (const [action, body] of [['approve'], ['suspend', { reason: 'Checks.' }], ['unsuspend']] as const) {
      expect((await act(action, body)).status).toBe(200)
      seen.push(await listed())
    }
    expect(seen).toEqual([true, false, true])
  })
})
