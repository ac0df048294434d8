import { beforeEach, describe, expect, it, vi } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { LogoFetchEntity } from '#shared/catalogue/logos/entity.ts'
import { asAdmin, submitApp } from '#test/functions/admin/moderation-support.ts'
import { signIn } from '#test/functions/console/marketplace-support.ts'
import { newApp, newDeveloper } from '#testkit/developers.ts'
import { pngOf } from '#testkit/images.ts'
import { actors, REDIRECT } from '#testkit/oauth.ts'
import { succeeded } from '#testkit/platform.ts'
import type { Answer } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const outside = usingReceiver()
const admin = (...given: Parameters<ReturnType<typeof asAdmin>>) => asAdmin(platform)(...given)

const HONEST = pngOf(64, [0, 128, 0])
const EVIL = pngOf(64, [255, 0, 0])

/** Images that the developer's server answers with, by path. */
const images = new Map<string, Answer>()
const image = (body: Uint8Array, type = 'image/png'): Answer => ({
  kind: 'answer',
  headers: { 'content-type': type },
  body,
})

beforeEach(() => {
  platform.clock.advance(60_000)
  images.clear()
  images.set('/logo.png', image(HONEST))
  outside.requests.length = 0
  outside.answer(({ path }) => images.get(path) ?? { kind: 'answer', status: 404 })
})

/** Submits an app with a logo on the developer's server. */
const submitted = async (fields: Record<string, unknown> = {}) => {
  const { developer, app } = await submitApp(platform, {
    type: 'integration',
    logo_url: `${outside.url}/logo.png`,
    redirect_uris: [REDIRECT],
    ...fields,
  })
  await platform.drain()
  const path = `/api/v1/dev/apps/${app.id}`
  const patch = async (body: object) => {
    platform.clock.advance(1_000)
    const answer = await developer.call('PATCH', path, body)
    await platform.drain()
    return answer
  }
  return {
    developer,
    app,
    patch,
    read: async () => (await developer.call('GET', path)).body,
    approve: () => approve(app.id),
  }
}

const approve = (id: string) => succeeded(admin('POST', `/admin/apps/${id}/approve`, {}))

/** Returns the path of the logo that customers see on the consent page and in the marketplace. */
const shownTo = async ({ id, slug }: { id: string; slug: string }): Promise<string> => {
  const { link, open } = actors(platform)
  const app = await platform.deps.table.get(AppEntity, { id })
  if (!app) throw new Error('no such app')
  const { token } = await signIn(platform)
  const consent = (await open(token, await link(app))).body.app.logo_path
  const { body } = await platform.call('GET', `/console/install/${slug}`, { token })
  expect(body.app.logo_path).toBe(consent)
  return consent
}

const load = (path: string) => platform.call('GET', path)
const shows = async (path: string, bytes: Uint8Array): Promise<boolean> =>
  (await load(path)).text.includes(Buffer.from(bytes).toString('base64'))

const AVATAR = /^\/console\/logos\/avatar-\d+-[0-9a-f]+$/

describe('the developer of an approved app', () => {
  it('can’t change what customers see by changing the bytes behind the logo’s address', async () => {
    const { app, patch, approve } = await submitted()
    await approve()
    const path = await shownTo(app)
    expect(await shows(path, HONEST)).toBe(true)

    images.set('/logo.png', image(EVIL))
    outside.requests.length = 0
    await patch({ logo_url: `${outside.url}/logo.png` })
    await patch({ support_email: 'help@example.com' })
    platform.clock.advance(3_600_000)
    await platform.sweep()
    await platform.drain()
    expect(await shownTo(app)).toBe(path)
    expect(await shows(path, HONEST)).toBe(true)
    expect(outside.requests).toEqual([])
  })

  it('gets another logo only by a revision, and customers see the image that the moderator saw', async () => {
    const { app, patch, approve, read } = await submitted()
    await approve()
    const before = await shownTo(app)
    images.set('/new.png', image(pngOf(64, [0, 0, 255])))
    const { pending_revision: early } = (await patch({ logo_url: `${outside.url}/new.png` })).body
    expect(await shownTo(app)).toBe(before)

    const { pending_revision: revision } = (await admin('GET', `/admin/apps/${app.id}`)).body.app
    expect(await shows(revision.logo_path, pngOf(64, [0, 0, 255]))).toBe(true)
    const decide = (id: string) => admin('POST', `/admin/apps/${app.id}/revisions/${id}/approve`, {})
    // Nobody had seen the image when the revision had its first id.
    expect((await decide(early.id)).body.error.code).toBe('conflict')
    images.set('/new.png', image(EVIL))
    expect((await decide(revision.id)).status).toBe(200)
    await platform.drain()
    const after = await shownTo(app)
    expect(after).toBe(revision.logo_path)
    expect(await shows(after, EVIL)).toBe(false)
    expect((await read()).logo_path).toBe(after)
  })

  it('can’t have an image fetched after the approval that wasn’t there for the review', async () => {
    images.set('/logo.png', { kind: 'answer', status: 503 })
    const { app, approve } = await submitted()
    await approve()
    images.set('/logo.png', image(EVIL))
    for (let n = 0; n < 4; n++) {
      platform.clock.advance(3_700_000)
      await platform.sweep()
      await platform.drain()
    }
    expect(await shownTo(app)).toMatch(AVATAR)
  })

  it('whose app is in review has the moderator look again when the image arrives', async () => {
    const { developer, app } = await submitted()
    images.set('/other.png', image(EVIL))
    await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { logo_url: `${outside.url}/other.png` })
    const looked = (await admin('GET', `/admin/apps/${app.id}`)).body.app
    expect(looked.logo_path).toMatch(AVATAR)
    platform.clock.advance(1_000)
    await platform.drain()
    const decide = (updated_at: string) => admin('POST', `/admin/apps/${app.id}/approve`, { updated_at })
    expect((await decide(looked.updated_at)).body.error?.code).toBe('conflict')
    const again = (await admin('GET', `/admin/apps/${app.id}`)).body.app
    expect(await shows(again.logo_path, EVIL)).toBe(true)
    expect((await decide(again.updated_at)).status).toBe(200)
  })
})

describe('a logo', () => {
  it.each([
    ['an SVG', image(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'), 'image/svg+xml')],
    ['a page', image(Buffer.from('<html><script>alert(1)</script>'), 'text/html')],
    ['a page that says it is an image', image(Buffer.from('<html>'))],
    ['an image of more than 1 MiB', image(Buffer.concat([HONEST, Buffer.alloc(1_100_000)]))],
    ['nothing', { kind: 'answer', status: 404 } as Answer],
  ])('that is %s gives way to an avatar, and saving doesn’t fail', async (_, answer) => {
    images.set('/logo.png', answer)
    const { read } = await submitted()
    const { logo_url, logo_path } = await read()
    expect(logo_url).toBe(`${outside.url}/logo.png`)
    expect(logo_path).toMatch(AVATAR)
  })

  it('is served inert, from the platform’s own address, for a year', async () => {
    const { read } = await submitted()
    const { status, headers, text } = await load((await read()).logo_path)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; img-src data:; sandbox",
      'x-content-type-options': 'nosniff',
    })
    expect(text).toMatch(/^<svg [^>]*><image [^>]*href="data:image\/png;base64,[A-Za-z0-9+/=]+"\/><\/svg>$/)
  })

  it('whose stored object was replaced isn’t served', async () => {
    const { app, read } = await submitted()
    const { logo_path } = await read()
    const hash = logo_path.split('.').at(-1)
    await platform.deps.objects.put(`logos/${app.id}/${hash}`, EVIL, 'image/png')
    expect((await load(logo_path)).status).toBe(404)
  })

  it.each([
    '/console/logos/avatar-99-41',
    '/console/logos/avatar-1-3c',
    '/console/logos/avatar-1-202e',
    '/console/logos/avatar-1-ffffff',
    `/console/logos/..%2f..%2fpayloads%2f.${'0'.repeat(64)}`,
    `/console/logos/app_00000000000000000000000000.${'0'.repeat(64)}`,
  ])('isn’t served at %s', async (path) => expect((await load(path)).status).toBe(404))

  it('that couldn’t be fetched is tried again, and replaces the avatar of an app that isn’t approved', async () => {
    images.set('/logo.png', { kind: 'answer', status: 503 })
    const { app, read } = await submitted()
    images.set('/logo.png', image(HONEST))
    platform.clock.advance(120_000)
    await platform.sweep()
    await platform.drain()
    expect(await shows((await read()).logo_path, HONEST)).toBe(true)
    expect(await platform.deps.table.get(LogoFetchEntity, { owner: app.id })).toBeUndefined()
  })

  it('that is removed or replaced before the approval leaves no object behind', async () => {
    const { app, patch, read } = await submitted()
    const [, hash] = (await read()).logo_path.split('.')
    images.set('/other.png', image(EVIL))
    await patch({ logo_url: `${outside.url}/other.png` })
    expect(await platform.deps.objects.get(`logos/${app.id}/${hash}`)).toBeUndefined()
    const [, other] = (await read()).logo_path.split('.')
    await patch({ logo_url: null })
    expect((await read()).logo_path).toMatch(AVATAR)
    expect(await platform.deps.objects.get(`logos/${app.id}/${other}`)).toBeUndefined()
  })

  it.each(['rejected', 'withdrawn', 'approved'])(
    'of a revision that was %s leaves no object behind that nobody shows',
    async (outcome) => {
      const { app, patch, approve, read } = await submitted()
      await approve()
      const before = (await read()).logo_path
      images.set('/new.png', image(EVIL))
      await patch({ logo_url: `${outside.url}/new.png` })
      const { pending_revision: revision } = (await admin('GET', `/admin/apps/${app.id}`)).body.app
      if (outcome === 'withdrawn') await patch({ logo_url: `${outside.url}/logo.png` })
      else {
        const verb = outcome === 'rejected' ? 'reject' : 'approve'
        const path = `/admin/apps/${app.id}/revisions/${revision.id}/${verb}`
        const body = outcome === 'rejected' ? { reason: 'Not yours.' } : {}
        expect((await admin('POST', path, body)).status).toBe(200)
        await platform.drain()
      }
      const [shown, gone] = outcome === 'approved' ? [revision.logo_path, before] : [before, revision.logo_path]
      expect(await shownTo(app)).toBe(shown)
      expect((await load(shown)).status).toBe(200)
      expect((await load(gone)).status).toBe(404)
    },
  )

  it('that is shown again while it is deleted is stored again', async () => {
    const { app, patch, approve } = await submitted()
    await approve()
    const live = await shownTo(app)
    images.set('/new.png', image(EVIL))
    await patch({ logo_url: `${outside.url}/new.png` })
    const { objects, table } = platform.deps
    const remove = objects.delete
    const { pending_revision } = (await table.get(AppEntity, app)) ?? {}
    const logo = pending_revision?.logo
    // Between the worker's look and its deletion, the image becomes the live one.
    const spy = vi.spyOn(objects, 'delete').mockImplementationOnce(async (key) => {
      await table.transact([AppEntity.update(app, { set: { logo, logo_url: logo?.url } })])
      await remove.call(objects, key)
    })
    await patch({ logo_url: `${outside.url}/logo.png` })
    expect(spy).toHaveBeenCalledOnce()
    spy.mockRestore()
    const again = await shownTo(app)
    expect(again).not.toBe(live)
    expect(await shows(again, EVIL)).toBe(true)
  })

  it('is deleted with the draft', async () => {
    const developer = await newDeveloper(platform)
    const app = await newApp(developer, { logo_url: `${outside.url}/logo.png` })
    await platform.drain()
    const [, hash] = (await developer.call('GET', `/api/v1/dev/apps/${app.id}`)).body.logo_path.split('.')
    const stored = () => platform.deps.objects.get(`logos/${app.id}/${hash}`)
    expect(await stored()).toBeDefined()
    expect((await developer.call('DELETE', `/api/v1/dev/apps/${app.id}`)).status).toBe(204)
    await platform.drain()
    expect(await stored()).toBeUndefined()
  })

  it('of the platform’s own agent is fetched, too', async () => {
    const body = { name: 'Ada', logo: `${outside.url}/logo.png`, policy: null }
    expect((await admin('PUT', '/admin/settings/pm-identity', body)).status).toBe(200)
    await platform.drain()
    const { logo_path } = (await admin('GET', '/admin/settings')).body.pm_identity
    expect(await shows(logo_path, HONEST)).toBe(true)
    const { token } = await signIn(platform)
    const { items } = (await platform.call('GET', '/console/conversations', { token })).body
    expect(items[0].answered_by).toMatchObject({ type: 'orchestrator', logo_path })
  })
})
