import { beforeEach, describe, expect, it } from 'vitest'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { DAY, HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { FileEntity, type FileRecord, FileUseEntity, FolderEntity } from '#shared/work/files/entity.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { filesOf } from '#test/functions/api/files-support.ts'
import { usingBucket } from '#testkit/bucket.ts'
import { callbackToken, member, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { consoleOf } from './notifications-support.ts'

const platform = usingPlatform()
const bucket = usingBucket(platform)
beforeEach(() => platform.clock.advance(60_000))

const someone = async (workspaceId?: string) => {
  const id = workspaceId ?? (await workspace(platform.deps)).id
  const { user, token } = await member(platform.deps, id, 'member')
  const { call, read } = consoleOf(platform, token)
  const create = async (body: Record<string, unknown> = {}) => {
    const fields = {
      name: 'a.txt',
      content_type: 'text/plain',
      ...(!('size' in body) && { content: 'hello' }),
      ...body,
    }
    const answer = await call('POST', '/files', fields)
    expect(answer.status, answer.text).toBe(201)
    return answer.body
  }
  const folder = async (name = 'Contacts') => (await call('POST', '/files', { kind: 'folder', name })).body
  const names = async (query: string): Promise<string[]> =>
    (await read(`/files?${query}`)).items.map(({ name }: { name: string }) => name)
  return { id, user, call, read, create, folder, names }
}

/** Starts a run of an agent and returns it with its callback token. */
const started = async (app: Awaited<ReturnType<typeof filesOf>>, privateTo?: string) => {
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { input: {} } })
  if (privateTo) {
    const key = { installation_id: app.installation.id, id: run.id }
    await platform.deps.table.transact([RunEntity.update(key, { set: { private_to: privateTo } })])
  }
  return { run, token: await callbackToken(platform.deps, app, run.id) }
}

const outcome = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]

/** Stores records of files without their content, as many as a list needs. */
const storeRecords = async (workspaceId: string, count: number, fields: (i: number) => Partial<FileRecord>) => {
  const now = platform.clock.now()
  const files = Array.from({ length: count }, (_, i) =>
    FileEntity.create({
      ...stampOf(newId('file', now + i)),
      workspace_id: workspaceId,
      name: `file ${i}`,
      content_type: 'text/plain',
      size: 1,
      status: 'ready',
      created_by: { type: 'user', id: 'usr_1', name: 'Ann' },
      ...fields(i),
    }),
  )
  for (let i = 0; i < files.length; i += 100) await platform.deps.table.transact(files.slice(i, i + 100))
  platform.clock.advance(count)
}

describe('a file', () => {
  it('is renamed and moved into a folder and out again, and is then in one list only', async () => {
    const ann = await someone()
    const folder = await ann.folder()
    const { id } = await ann.create()
    const renamed = await ann.call('PATCH', `/files/${id}`, { name: ' Bericht ü.txt ', folder_id: folder.id })
    expect(renamed.body).toMatchObject({ name: 'Bericht ü.txt', folder_id: folder.id, status: 'ready' })
    expect([await ann.names('folder_id=root'), await ann.names(`folder_id=${folder.id}`)]).toEqual([
      [],
      ['Bericht ü.txt'],
    ])
    expect((await ann.read(`/files/${id}/download`)).name).toBe('Bericht ü.txt')
    expect((await ann.call('PATCH', `/files/${id}`, { folder_id: null })).body.folder_id).toBeNull()
    expect([await ann.names('folder_id=root'), await ann.names(`folder_id=${folder.id}`)]).toEqual([
      ['Bericht ü.txt'],
      [],
    ])
  })

  it('keeps names readable: direction controls, slashes and line breaks are refused', async () => {
    const ann = await someone()
    const { id } = await ann.create()
    for (const name of ['invoice\u202Egpj.exe', 'a\u2066b', 'a/b', '..', 'a\nb', '', 'x'.repeat(256)]) {
      expect(outcome(await ann.call('PATCH', `/files/${id}`, { name })), JSON.stringify(name)).toEqual([
        422,
        'validation_error',
      ])
    }
    expect(outcome(await ann.call('PATCH', `/files/${id}`, {}))).toEqual([422, 'validation_error'])
    expect(await ann.names('')).toEqual(['a.txt'])
  })

  it('can’t be changed, moved or seen from another workspace, nor moved into a folder of one', async () => {
    const [ann, eve] = [await someone(), await someone()]
    const [{ id }, folder, theirs] = [await ann.create(), await ann.folder(), await eve.folder('Theirs')]
    for (const [method, path, body] of [
      ['PATCH', `/files/${id}`, { name: 'stolen' }],
      ['PATCH', `/files/${id}`, { folder_id: theirs.id }],
      ['GET', `/files/${id}/uses`, undefined],
      ['POST', `/files/${id}/upload`, undefined],
      ['PATCH', `/folders/${folder.id}`, { name: 'stolen' }],
      ['DELETE', `/folders/${folder.id}`, undefined],
    ] as const) {
      expect(outcome(await eve.call(method, path, body)), `${method} ${path}`).toEqual([404, 'not_found'])
    }
    expect(outcome(await ann.call('PATCH', `/files/${id}`, { folder_id: theirs.id }))).toEqual([404, 'not_found'])
    expect(outcome(await ann.call('PATCH', `/files/${id}`, { folder_id: id }))).toEqual([404, 'not_found'])
    expect(await ann.names('folder_id=root')).toEqual(['a.txt'])
  })

  it('that is deleted while it is moved is deleted: the move never brings it back', async () => {
    const ann = await someone()
    const folder = await ann.folder()
    for (let i = 0; i < 5; i++) {
      const { id } = await ann.create()
      const [moved, deleted] = await Promise.all([
        ann.call('PATCH', `/files/${id}`, { folder_id: folder.id }),
        ann.call('DELETE', `/files/${id}`),
      ])
      expect([200, 404]).toContain(moved.status)
      expect(deleted.status).toBe(204)
      expect(await ann.names('')).toEqual([])
      expect(await platform.deps.table.get(FileEntity, { workspace_id: ann.id, id })).toBeUndefined()
    }
    expect(await ann.names(`folder_id=${folder.id}`)).toEqual([])
  })
})

describe('a folder', () => {
  it('is renamed, and can’t be put into a folder, so folders never form a cycle', async () => {
    const ann = await someone()
    const [outer, inner] = [await ann.folder('Outer'), await ann.folder('Inner')]
    expect((await ann.call('PATCH', `/folders/${outer.id}`, { name: 'Contracts' })).body).toEqual({
      ...outer,
      name: 'Contracts',
    })
    for (const [path, body] of [
      [`/folders/${outer.id}`, { name: 'Outer', folder_id: inner.id }],
      [`/folders/${outer.id}`, { folder_id: outer.id }],
    ] as const) {
      expect(outcome(await ann.call('PATCH', path, body))).toEqual([422, 'validation_error'])
    }
    const nested = { kind: 'folder', name: 'Nested', folder_id: outer.id }
    expect(outcome(await ann.call('POST', '/files', nested))).toEqual([422, 'validation_error'])
    expect(outcome(await ann.call('PATCH', `/files/${outer.id}`, { folder_id: inner.id }))).toEqual([404, 'not_found'])
  })

  it('is deleted without its files, which move out of it, and gives its place back once', async () => {
    const ann = await someone()
    const folder = await ann.folder()
    await storeRecords(ann.id, 130, () => ({ folder_id: folder.id }))
    expect((await ann.call('DELETE', `/folders/${folder.id}`)).status).toBe(204)
    expect(outcome(await ann.call('DELETE', `/folders/${folder.id}`))).toEqual([404, 'not_found'])
    expect((await ann.read('/files?kind=folder')).items).toEqual([])
    expect(outcome(await ann.call('GET', `/files?folder_id=${folder.id}`))).toEqual([404, 'not_found'])
    expect(outcome(await ann.call('PATCH', `/folders/${folder.id}`, { name: 'Back' }))).toEqual([404, 'not_found'])
    for (let i = 0; i < 4; i++) {
      platform.clock.advance(2 * MINUTE)
      await platform.sweep()
    }
    expect(await platform.deps.table.get(FolderEntity, { workspace_id: ann.id, id: folder.id })).toBeUndefined()
    const counter = { owner: ann.id, counter: 'folders' }
    expect(await platform.deps.table.get(CounterEntity, counter)).toMatchObject({ n: 0 })
    expect(await ann.names('folder_id=root&limit=100')).toHaveLength(100)
    const { items } = await platform.deps.table.query(FileEntity, { workspace_id: ann.id }, { limit: 200 })
    expect(items.filter(({ folder_id }) => folder_id !== undefined)).toEqual([])
    expect(items).toHaveLength(130)
  })

  it('that is being deleted takes no more files, created or moved', async () => {
    const ann = await someone()
    const folder = await ann.folder()
    const { id } = await ann.create()
    await ann.call('DELETE', `/folders/${folder.id}`)
    expect(outcome(await ann.call('PATCH', `/files/${id}`, { folder_id: folder.id }))).toEqual([404, 'not_found'])
    const late = { name: 'late.txt', content_type: 'text/plain', content: 'x', folder_id: folder.id }
    expect(outcome(await ann.call('POST', '/files', late))).toEqual([404, 'not_found'])
  })
})

describe('the list of files', () => {
  it('sorts by name, size and date in both directions, across pages, and continues after a deleted file', async () => {
    const ann = await someone()
    const folder = await ann.folder()
    const names = ['Zebra.txt', 'apple 10.txt', 'Äpfel.txt', 'apple 9.txt']
    const ids: string[] = []
    for (const [i, name] of names.entries()) {
      ids.push((await ann.create({ name, content: 'x'.repeat([5, 1, 9, 3][i] ?? 0), folder_id: folder.id })).id)
    }
    await ann.create({ name: 'elsewhere.txt' })
    const at = `folder_id=${folder.id}`
    const byName = ['Äpfel.txt', 'apple 9.txt', 'apple 10.txt', 'Zebra.txt']
    expect(await ann.names(`${at}&sort=name`)).toEqual(byName)
    expect(await ann.names(`${at}&sort=name&order=desc`)).toEqual([...byName].reverse())
    expect(await ann.names(`${at}&sort=size`)).toEqual(['Äpfel.txt', 'Zebra.txt', 'apple 9.txt', 'apple 10.txt'])
    expect(await ann.names(`${at}&order=asc`)).toEqual(names)
    expect(await ann.names(`${at}&sort=created_at`)).toEqual([...names].reverse())
    const first = await ann.read(`/files?${at}&sort=name&limit=2`)
    expect(first.items.map(({ name }: { name: string }) => name)).toEqual(byName.slice(0, 2))
    await ann.call('DELETE', `/files/${ids[3]}`)
    const cursor = encodeURIComponent(first.next_cursor)
    expect(await ann.names(`${at}&sort=name&limit=2&cursor=${cursor}`)).toEqual(byName.slice(2))
  })

  it('finds names by words, without regard to case and accents, within a folder or in all', async () => {
    const ann = await someone()
    const folder = await ann.folder()
    await ann.create({ name: 'Kündigung Müller 2026.pdf', folder_id: folder.id })
    await ann.create({ name: 'Rechnung Müller.pdf' })
    const q = (text: string) => `q=${encodeURIComponent(text)}`
    expect(await ann.names(q('MULLER'))).toEqual(['Rechnung Müller.pdf', 'Kündigung Müller 2026.pdf'])
    expect(await ann.names(q('muller kundigung'))).toEqual(['Kündigung Müller 2026.pdf'])
    expect(await ann.names(`${q('müller')}&folder_id=root`)).toEqual(['Rechnung Müller.pdf'])
    expect(await ann.names(`${q('müller')}&sort=name`)).toEqual(['Kündigung Müller 2026.pdf', 'Rechnung Müller.pdf'])
    expect(await ann.names(q('nothing'))).toEqual([])
  })

  it('looks through at most 2,000 files for one page of a search, and continues from there', async () => {
    const ann = await someone()
    await storeRecords(ann.id, 2_300, (i) => (i === 0 ? { name: 'needle' } : {}))
    const page = await ann.read('/files?q=needle')
    expect([page.items, page.has_more]).toEqual([[], true])
    const next = await ann.read(`/files?q=needle&cursor=${encodeURIComponent(page.next_cursor)}`)
    expect(next.items).toMatchObject([{ name: 'needle' }])
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const some = await ann.read(`/files?q=file&limit=100${cursor}`)
      seen.push(...some.items.map(({ id }: { id: string }) => id))
      if (!some.has_more) break
      cursor = `&cursor=${encodeURIComponent(some.next_cursor)}`
    }
    expect([seen.length, new Set(seen).size]).toEqual([2_299, 2_299])
  })

  it('of a workspace with more files than can be sorted is refused, except for a folder of up to 1,000', async () => {
    const ann = await someone()
    const folder = await ann.folder()
    await ann.create({ name: 'in.txt', folder_id: folder.id })
    await platform.deps.table.transact([
      CounterEntity.update({ owner: ann.id, counter: 'files' }, { set: { n: 5_001 } }),
    ])
    const all = await ann.call('GET', '/files?sort=name')
    expect([...outcome(all), all.body.error.details.limit]).toEqual([409, 'conflict', 5_000])
    expect(await ann.names(`sort=name&folder_id=${folder.id}`)).toEqual(['in.txt'])
    await storeRecords(ann.id, 1_001, () => ({ folder_id: folder.id }))
    const large = await ann.call('GET', `/files?sort=size&folder_id=${folder.id}`)
    expect([...outcome(large), large.body.error.details.limit]).toEqual([409, 'conflict', 1_000])
  })

  it('of folders takes no filters of files', async () => {
    const ann = await someone()
    for (const query of ['q=a', 'sort=name', 'order=asc', 'folder_id=root']) {
      expect(outcome(await ann.call('GET', `/files?kind=folder&${query}`)), query).toEqual([422, 'validation_error'])
    }
  })
})

describe('who used a file', () => {
  it('is its creator with the run, everybody who read it, and everybody who renamed or moved it', async () => {
    const app = await filesOf(platform)
    const [ann, bob] = [await someone(app.workspaceId), await someone(app.workspaceId)]
    const { run, token } = await started(app)
    const body = { name: 'report.csv', content_type: 'text/csv', content: 'a,b' }
    const { id } = (await platform.call('POST', '/api/v1/files', { token, body })).body
    await ann.read(`/files/${id}/download`)
    await bob.call('PATCH', `/files/${id}`, { name: 'report-may.csv' })
    platform.clock.advance(1_000)
    expect((await platform.call('GET', `/api/v1/files/${id}`, { token })).status).toBe(200)
    const { items } = await ann.read(`/files/${id}/uses`)
    const at = expect.any(String)
    expect(items).toEqual([
      {
        actor: { type: 'agent', id: app.installation.id, name: app.app.name },
        created_at: at,
        read_at: at,
        changed_at: null,
        runs: [{ id: run.id, at }],
      },
      {
        actor: { type: 'user', id: bob.user.id, name: bob.user.name },
        created_at: null,
        read_at: null,
        changed_at: at,
        runs: [],
      },
      {
        actor: { type: 'user', id: ann.user.id, name: ann.user.name },
        created_at: null,
        read_at: at,
        changed_at: null,
        runs: [],
      },
    ])
  })

  it('names a private run to its own person only', async () => {
    const app = await filesOf(platform)
    const [ann, bob] = [await someone(app.workspaceId), await someone(app.workspaceId)]
    const { id } = await ann.create()
    const { run, token } = await started(app, ann.user.id)
    await platform.call('GET', `/api/v1/files/${id}`, { token })
    const runs = async (who: typeof ann) =>
      (await who.read(`/files/${id}/uses`)).items.flatMap((use: { runs: { id: string }[] }) =>
        use.runs.map((one) => one.id),
      )
    expect([await runs(ann), await runs(bob)]).toEqual([[run.id], []])
  })

  it('is one record per person, written once in five minutes, and removed 90 days after the last use', async () => {
    const ann = await someone()
    const { id } = await ann.create()
    const stored = () =>
      platform.deps.table.get(FileUseEntity, { workspace_id: ann.id, file_id: id, actor_id: ann.user.id })
    await ann.read(`/files/${id}/download`)
    const first = await stored()
    platform.clock.advance(MINUTE)
    await ann.read(`/files/${id}/download`)
    expect(await stored()).toEqual(first)
    platform.clock.advance(5 * MINUTE)
    await ann.read(`/files/${id}/download`)
    expect((await stored())?.read_at).toBeGreaterThan(first?.read_at ?? 0)
    platform.clock.advance(90 * DAY)
    expect(await stored()).toBeUndefined()
  })

  it('keeps the ten latest runs of an agent', async () => {
    const app = await filesOf(platform)
    const ann = await someone(app.workspaceId)
    const { id } = await ann.create()
    const runs: string[] = []
    for (let i = 0; i < 12; i++) {
      const { run, token } = await started(app)
      runs.unshift(run.id)
      platform.clock.advance(1_000)
      expect((await platform.call('GET', `/api/v1/files/${id}`, { token })).status).toBe(200)
      await platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: app.token })
    }
    const [use] = (await ann.read(`/files/${id}/uses`)).items
    expect(use.runs.map((one: { id: string }) => one.id)).toEqual(runs.slice(0, 10))
  })
})

describe('an interrupted upload', () => {
  it('continues at a new address after the first one expired, and the content arrives once', async () => {
    const ann = await someone()
    const { id } = await ann.create({ size: 5 })
    platform.clock.advance(20 * MINUTE)
    const { upload } = (await ann.call('POST', `/files/${id}/upload`)).body
    const put = () => fetch(upload.url, { method: 'PUT', body: 'hello', headers: upload.headers })
    expect([(await put()).status, (await put()).status]).toEqual([200, 412])
    expect(outcome(await ann.call('POST', `/files/${id}/upload`))).toEqual([409, 'conflict'])
    expect(await (await fetch((await ann.read(`/files/${id}/download`)).download_url)).text()).toBe('hello')
    expect(outcome(await ann.call('POST', `/files/${id}/upload`))).toEqual([409, 'conflict'])
  })

  it('can’t begin again in the last hour before the file is removed, so no address outlives the file', async () => {
    const ann = await someone()
    const { id } = await ann.create({ size: 5 })
    platform.clock.advance(23 * HOUR)
    expect(outcome(await (await someone(ann.id)).call('POST', `/files/${id}/upload`))).toEqual([409, 'conflict'])
  })

  it('of a file that was deleted in the meantime leaves no object behind', async () => {
    const ann = await someone()
    const { id } = await ann.create({ size: 5 })
    platform.clock.advance(50 * MINUTE)
    const [renewed, removed] = await Promise.all([
      ann.call('POST', `/files/${id}/upload`),
      ann.call('DELETE', `/files/${id}`),
    ])
    expect(removed.status).toBe(204)
    const { upload } = renewed.body
    if (upload) await fetch(upload.url, { method: 'PUT', body: 'hello', headers: upload.headers })
    platform.clock.advance(HOUR + MINUTE)
    await platform.sweep()
    expect(await bucket.objects.head(`files/${ann.id}/${id}`)).toBeUndefined()
    expect(await platform.deps.table.get(CounterEntity, { owner: ann.id, counter: 'files' })).toMatchObject({ n: 0 })
  })
})

describe('a PDF', () => {
  it('can be shown by the browser, and nothing else can: hostile types are saved even when shown inline is asked for', async () => {
    const ann = await someone()
    const headers = async (name: string, content_type: string) => {
      const { id } = await ann.create({ name, content_type, content: '<script>alert(1)</script>' })
      const { download_url } = await ann.read(`/files/${id}/download?inline=true`)
      const answer = await fetch(download_url)
      return [answer.headers.get('content-disposition')?.split(';')[0], answer.headers.get('content-type')]
    }
    expect(await headers('a.pdf', 'application/pdf')).toEqual(['inline', 'application/pdf'])
    for (const type of ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/xml']) {
      expect(await headers('a', type), type).toEqual(['attachment', 'application/octet-stream'])
    }
    for (const type of ['text/plain', 'image/png', 'application/pdf; charset=html']) {
      expect((await headers('a.pdf', type))[0], type).toBe('attachment')
    }
  })
})
