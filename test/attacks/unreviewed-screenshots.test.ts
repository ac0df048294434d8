import { describe, expect, it } from 'vitest'
import { MINUTE } from '#shared/kernel/clock.ts'
import { recover } from '#test/faults/die-at-each.ts'
import { listApp, signIn } from '#test/functions/console/marketplace-support.ts'
import { newApp, newDeveloper } from '#testkit/developers.ts'
import { pngOf } from '#testkit/images.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

type Listed = Awaited<ReturnType<typeof listApp>>
type Owner = Listed['developer']

const upload = (developer: Owner, appId: string, image: Buffer) =>
  developer.call('POST', `/api/v1/dev/apps/${appId}/screenshots`, { image: image.toString('base64') })

const edit = (developer: Owner, appId: string, screenshots: object[]) =>
  developer.call('PATCH', `/api/v1/dev/apps/${appId}`, { screenshots })

const admin = (method: string, path: string, body: object = {}) =>
  platform.call(method, path, { headers: { 'x-admin-key': 'local-admin-key' }, body })

/** Returns the captions that a customer sees. */
const seen = async (slug: string) => {
  const { token } = await signIn(platform)
  const { body } = await platform.call('GET', `/console/install/${slug}`, { token })
  return body.app.screenshots.map(({ caption }: { caption: string }) => caption)
}

const stored = (appId: string) => [...platform.objects.keys()].filter((key) => key.startsWith(`logos/${appId}/`)).length

describe('screenshots of an approved app', () => {
  it('are seen by customers after a moderator approved them, and never before', async () => {
    const { developer, app } = await listApp(platform)
    const { body: image } = await upload(developer, app.id, pngOf(400, [1, 2, 3]))
    const { body: edited } = await edit(developer, app.id, [{ id: image.id, caption: 'Shelves' }])
    expect(edited.screenshots).toEqual([])
    expect(edited.pending_revision.changes.screenshots).toMatchObject([
      { caption: 'Shelves', width: 400, path: image.path },
    ])
    expect(await seen(app.slug)).toEqual([])
    const { id } = edited.pending_revision
    expect((await admin('POST', `/admin/apps/${app.id}/revisions/${id}/approve`)).status).toBe(200)
    expect(await seen(app.slug)).toEqual(['Shelves'])
    const { body: again } = await edit(developer, app.id, [{ id: image.id, caption: 'Buy now at evil.example' }])
    expect(again.pending_revision.changes).toHaveProperty('screenshots')
    expect(await seen(app.slug)).toEqual(['Shelves'])
    const { body: back } = await edit(developer, app.id, [{ id: image.id, caption: 'Shelves' }])
    expect(back.pending_revision).toBeNull()
  })

  it('are deleted when a moderator rejects them, unless the listing shows them', async () => {
    const { developer, app } = await listApp(platform)
    const [kept, refused] = [pngOf(400, [4, 5, 6]), pngOf(400, [7, 8, 9])]
    const { body: first } = await upload(developer, app.id, kept)
    const { body: one } = await edit(developer, app.id, [{ id: first.id, caption: 'Shelves' }])
    await admin('POST', `/admin/apps/${app.id}/revisions/${one.pending_revision.id}/approve`)
    const { body: second } = await upload(developer, app.id, refused)
    const { body: two } = await edit(developer, app.id, [
      { id: first.id, caption: 'Shelves' },
      { id: second.id, caption: 'Something else' },
    ])
    const path = `/admin/apps/${app.id}/revisions/${two.pending_revision.id}/reject`
    expect((await admin('POST', path, { reason: 'This isn’t the app.' })).status).toBe(200)
    await platform.drain()
    expect((await platform.call('GET', second.path)).status).toBe(404)
    expect((await platform.call('GET', first.path)).status).toBe(200)
    expect((await edit(developer, app.id, [{ id: second.id, caption: 'Again' }])).body.error.code).toBe(
      'validation_error',
    )
  })
})

describe('screenshots', () => {
  it('of a draft belong to its listing at once, and go with the app', async () => {
    const developer = await newDeveloper(platform)
    const app = await newApp(developer)
    const { body: image } = await upload(developer, app.id, pngOf(320, [10, 11, 12]))
    const { body } = await edit(developer, app.id, [{ id: image.id, caption: '  Shelves  ' }])
    expect(body.screenshots).toEqual([{ ...image, caption: 'Shelves' }])
    const served = await platform.call('GET', image.path)
    expect(served.headers).toMatchObject({ 'content-type': 'image/svg+xml', 'x-content-type-options': 'nosniff' })
    expect(served.text).toMatch(/^<svg [^>]*width="320" height="320"[^>]*><image [^>]*href="data:image\/png;base64,/)
    expect((await developer.call('DELETE', `/api/v1/dev/apps/${app.id}`)).status).toBe(204)
    await platform.drain()
    expect(stored(app.id)).toBe(0)
  })

  it('can’t be another app’s, even the same developer’s, or another developer’s', async () => {
    const [developer, other] = [await newDeveloper(platform), await newDeveloper(platform)]
    const [app, sibling, foreign] = [await newApp(developer), await newApp(developer), await newApp(other)]
    const { body: image } = await upload(developer, sibling.id, pngOf(320, [13, 14, 15]))
    expect((await edit(developer, app.id, [{ id: image.id, caption: 'Shelves' }])).body.error.details.fields).toEqual({
      'screenshots.0.id': ['must be the id of an uploaded screenshot'],
    })
    expect((await upload(developer, foreign.id, pngOf(320, [1, 1, 1]))).status).toBe(404)
    expect((await edit(developer, foreign.id, [])).status).toBe(404)
  })

  it.each([
    ['text', Buffer.from('<svg onload="alert(1)"/>')],
    ['a GIF', Buffer.from('GIF89a\x40\x01\x40\x01\x00\x00\x00', 'latin1')],
    ['too few pixels', pngOf(319, [0, 0, 0])],
    ['too many bytes', Buffer.concat([pngOf(320, [0, 0, 0]), Buffer.alloc(2_000_001)])],
  ])('aren’t %s', async (_, image) => {
    const developer = await newDeveloper(platform)
    const app = await newApp(developer)
    const { status, body } = await upload(developer, app.id, image)
    expect([status, body.error.code]).toEqual([422, 'validation_error'])
    expect(stored(app.id)).toBe(0)
  })

  it('fill no more storage than sixteen uploads and the listing', async () => {
    const developer = await newDeveloper(platform)
    const app = await newApp(developer)
    const { body: shown } = await upload(developer, app.id, pngOf(320, [0, 0, 255]))
    await edit(developer, app.id, [{ id: shown.id, caption: 'Shelves' }])
    for (let i = 0; i < 20; i++) {
      expect((await upload(developer, app.id, pngOf(320, [i, 0, 0]))).status).toBe(201)
    }
    await platform.drain()
    expect(stored(app.id)).toBe(17)
    expect((await platform.call('GET', shown.path)).status).toBe(200)
  })

  it.each(['before', 'after'])(
    'that arrive while their draft is deleted leave no image behind (deleted %s the image is stored)',
    async (moment) => {
      const developer = await newDeveloper(platform)
      const app = await newApp(developer)
      await upload(developer, app.id, pngOf(320, [20, 21, 22]))
      const { objects } = platform.deps
      const { put } = objects
      objects.put = async (...image) => {
        objects.put = put
        if (moment === 'after') await put(...image)
        expect((await developer.call('DELETE', `/api/v1/dev/apps/${app.id}`)).status).toBe(204)
        await platform.drain()
        if (moment === 'before') await put(...image)
      }
      const late = await upload(developer, app.id, pngOf(320, [23, 24, 25]))
      expect([late.status, late.body.error?.code]).toEqual([404, 'not_found'])
      // The sweeper looks once nobody can store an image any more.
      await recover(platform, 3 * MINUTE)
      expect(stored(app.id)).toBe(0)
    },
  )

  it('have captions of one visible line, at most eight of them, each once', async () => {
    const developer = await newDeveloper(platform)
    const app = await newApp(developer)
    const { body: image } = await upload(developer, app.id, pngOf(320, [16, 17, 18]))
    for (const screenshots of [
      [{ id: image.id, caption: 'Shelves\nTelegram has verified this app' }],
      [{ id: image.id, caption: '\u202eevil' }],
      [{ id: image.id, caption: '' }],
      [{ id: image.id, caption: 'x'.repeat(121) }],
      [1, 2].map(() => ({ id: image.id, caption: 'Shelves' })),
      Array.from({ length: 9 }, (_, i) => ({ id: String(i).repeat(64), caption: 'Shelves' })),
    ])
      expect((await edit(developer, app.id, screenshots)).status).toBe(422)
  })
})
