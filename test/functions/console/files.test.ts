import { beforeEach, describe, expect, it } from 'vitest'
import { CounterEntity } from '#shared/foundation/claims/entity.ts'
import { newId } from '#shared/kernel/ids.ts'
import { filesOf } from '#test/functions/api/files-support.ts'
import { usingBucket } from '#testkit/bucket.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { consoleOf } from './notifications-support.ts'

const platform = usingPlatform()
const bucket = usingBucket(platform)
beforeEach(() => platform.clock.advance(60_000))

const someone = async (workspaceId?: string) => {
  const id = workspaceId ?? (await workspace(platform.deps)).id
  const { user, token } = await member(platform.deps, id, 'member')
  const { call, read } = consoleOf(platform, token)
  const create = async (body: Record<string, unknown>) => {
    const answer = await call('POST', '/files', { name: 'a.txt', content_type: 'text/plain', ...body })
    expect(answer.status, answer.text).toBe(201)
    return answer.body
  }
  return { id, user, call, read, create }
}
const ids = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id)

describe('a person’s files', () => {
  it('can be uploaded, listed and deleted along with those of agents and others, each with its author', async () => {
    const app = await filesOf(platform)
    const ann = await someone(app.workspaceId)
    const bob = await someone(app.workspaceId)
    const theirs = await app.file({ name: 'agent.txt', content: 'from the agent' })
    platform.clock.advance(10)
    const own = await ann.create({ name: 'ann.txt', content: 'from ann' })
    expect(own).toMatchObject({ kind: 'file', status: 'ready', created_by: { type: 'user', id: ann.user.id } })
    const { items } = await bob.read('/files')
    expect(items.map(({ name, created_by }: { name: string; created_by: object }) => [name, created_by])).toEqual([
      ['ann.txt', { type: 'user', id: ann.user.id, name: ann.user.name }],
      ['agent.txt', { type: 'agent', id: app.installation.id, name: app.app.name }],
    ])
    expect((await app.call('GET', `/${own.id}`)).status).toBe(200)
    const object = `files/${app.workspaceId}/${theirs.id}`
    expect(await bucket.objects.head(object)).toBe(14)
    expect((await bob.call('DELETE', `/files/${theirs.id}`)).status).toBe(204)
    expect(await bucket.objects.head(object)).toBeUndefined()
    expect((await bob.call('DELETE', `/files/${theirs.id}`)).status).toBe(404)
    expect(ids(await ann.read('/files'))).toEqual([own.id])
  })

  it('can be downloaded for five minutes through a URL', async () => {
    const ann = await someone()
    const { id } = await ann.create({ name: 'Kündigung.txt', content: 'hello' })
    const now = platform.clock.now()
    const body = await ann.read(`/files/${id}/download`)
    expect(body).toMatchObject({ name: 'Kündigung.txt', content_type: 'text/plain', size: 5 })
    expect(Date.parse(body.expires_at) - now).toBeGreaterThanOrEqual(300_000)
    expect(Date.parse(body.expires_at) - now).toBeLessThan(302_000)
    const content = await fetch(body.download_url)
    expect([content.status, await content.text()]).toEqual([200, 'hello'])
    expect(content.headers.get('content-disposition')).toContain('attachment')
  })

  it('can be uploaded to a URL when large, and downloaded once they have arrived', async () => {
    const ann = await someone()
    const { id, upload, status } = await ann.create({ kind: 'file', size: 5 })
    expect(status).toBe('pending')
    const early = await ann.call('GET', `/files/${id}/download`)
    expect([early.status, early.body.error.code]).toEqual([409, 'conflict'])
    const put = await fetch(upload.url, { method: 'PUT', body: 'hello', headers: upload.headers })
    expect(put.status).toBe(200)
    const { download_url } = await ann.read(`/files/${id}/download`)
    expect(await (await fetch(download_url)).text()).toBe('hello')
    expect((await ann.read('/files')).items).toMatchObject([{ id, status: 'ready' }])
  })

  it('can be kept in folders', async () => {
    const ann = await someone()
    const folder = await ann.call('POST', '/files', { kind: 'folder', name: ' Contacts ' })
    expect(folder.status).toBe(201)
    expect(folder.body).toEqual({
      kind: 'folder',
      id: expect.stringMatching(/^fld_/),
      name: 'Contacts',
      created_at: expect.any(String),
    })
    const inside = await ann.create({ content: 'in', folder_id: folder.body.id })
    const outside = await ann.create({ content: 'out' })
    expect((await ann.read('/files?kind=folder')).items).toEqual([folder.body])
    expect(ids(await ann.read(`/files?folder_id=${folder.body.id}`))).toEqual([inside.id])
    expect(ids(await ann.read('/files?folder_id=root'))).toEqual([outside.id])
    expect(ids(await ann.read('/files'))).toEqual([outside.id, inside.id])
    const wrong = { name: 'a', content_type: 'text/plain', content: 'x', folder_id: newId('folder', 0) }
    expect((await ann.call('POST', '/files', wrong)).status).toBe(404)
  })

  it('can be put into folders, which are created once per Idempotency-Key and limited per workspace', async () => {
    const ann = await someone()
    const { token } = await member(platform.deps, ann.id, 'member')
    const create = () =>
      platform.call('POST', '/console/files', {
        token,
        headers: { 'idempotency-key': 'folder-1' },
        body: { kind: 'folder', name: 'Contacts' },
      })
    expect((await create()).body.id).toBe((await create()).body.id)
    const key = { owner: ann.id, counter: 'folders' }
    expect(await platform.deps.table.get(CounterEntity, key)).toMatchObject({ n: 1 })
    await platform.deps.table.transact([CounterEntity.update(key, { set: { n: 999 } })])
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ann.call('POST', '/files', { kind: 'folder', name: 'One more' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403])
  })

  it('are refused with an explanation when the body is neither a file nor a folder', async () => {
    const ann = await someone()
    for (const body of [
      {},
      { kind: 'folder' },
      { kind: 'folder', name: 'a/b' },
      { kind: 'folder', name: 'a', content: 'x' },
      { kind: 'link', name: 'a' },
      { name: 'a', content_type: 'text/plain' },
      { name: 'a', content_type: 'text/plain', content: 'x', size: 1 },
    ]) {
      const { status, body: answer } = await ann.call('POST', '/files', body)
      expect([status, Object.keys(answer.error.details.fields).length > 0], JSON.stringify(body)).toEqual([422, true])
    }
  })
})
