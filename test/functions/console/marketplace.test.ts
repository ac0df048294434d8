import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { editApp } from '#shared/catalogue/apps/edit.ts'
import { AppEntity, ListedAppEntity, ListingPlaceEntity } from '#shared/catalogue/apps/entity.ts'
import { listingWrites, readListing } from '#shared/catalogue/apps/list-app.ts'
import { ReviewTotalsEntity } from '#shared/marketplace/reviews/entity.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { install, listApp, moderate, signIn } from './marketplace-support.ts'
import { workOf } from './people-support.ts'

let person: Awaited<ReturnType<typeof signIn>>
const platform = usingPlatform()
beforeAll(async () => {
  person = await signIn(platform)
})
beforeEach(() => platform.clock.advance(60_000))

const list = (query: Record<string, string> = {}, token = person.token) =>
  succeeded(platform.call('GET', `/console/marketplace?${new URLSearchParams(query)}`, { token }))
const names = async (query: Record<string, string> = {}) =>
  (await list({ limit: '100', ...query })).items.map(({ name }: { name: string }) => name)
/** Reads every page, one app per page. */
const paged = async (query: Record<string, string>) => {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await list({ ...query, limit: '1', ...(cursor && { cursor }) })
    found.push(...page.items.map(({ name }: { name: string }) => name))
    cursor = page.next_cursor ?? undefined
  } while (cursor)
  return found
}
const feature = async ({ id }: { id: string }, featured_at: number | undefined) => {
  const app = await platform.deps.table.get(AppEntity, { id })
  if (!app) throw new Error('no app')
  const { listed, developerName } = await readListing(platform.deps, app)
  await platform.deps.table.transact(
    await listingWrites(listed, { app, developerName, listed_at: listed?.listed_at ?? 0, featured_at }),
  )
}
/** Lists the app's entries on every shelf of the marketplace. */
const traces = async ({ id }: { id: string }, shelves: string[]) => {
  const found = await Promise.all(
    shelves.map((shelf) => platform.deps.table.query(ListingPlaceEntity, { shelf }, { limit: 100 })),
  )
  return found.flatMap(({ items }) => items).filter(({ app_id }) => app_id === id)
}

/** Approves the pending changes of an app. */
const approveChanges = async ({ id }: { id: string }): Promise<void> => {
  const revision = (await platform.deps.table.get(AppEntity, { id }))?.pending_revision_id
  const headers = { 'x-admin-key': 'local-admin-key' }
  await succeeded(platform.call('POST', `/admin/apps/${id}/revisions/${revision}/approve`, { headers }))
}

describe('GET /console/marketplace', () => {
  it('shows an approved app with the details needed to choose it', async () => {
    const { app } = await listApp(platform, {
      name: 'Aardvark',
      summary: 'Counts ants.',
      category: 'operations',
      logo_url: 'https://example.com/logo.png',
    })
    await platform.deps.table.transact([
      ReviewTotalsEntity.upsert({ app_id: app.id }, { set: { app_id: app.id, n4: 1, n5: 3 } }),
    ])
    expect((await list({ q: 'aardvark' })).items).toEqual([
      {
        id: app.id,
        slug: app.slug,
        name: 'Aardvark',
        type: 'agent',
        summary: 'Counts ants.',
        category: 'operations',
        logo_url: 'https://example.com/logo.png',
        logo_path: expect.stringMatching(/^\/console\/logos\/avatar-/),
        verified: false,
        developer_id: expect.stringMatching(/^dev_/),
        developer_name: 'Ada Example',
        similar_to: [],
        rating: { average: 4.75, count: 4 },
        needs_oauth: false,
        install_url: null,
        featured: false,
        version: '1.0.0',
        installation: null,
        listed_at: expect.any(String),
      },
    ])
  })

  it('shows where it is installed, in this workspace only, until it is uninstalled', async () => {
    const { app, release } = await listApp(platform, { name: 'Badger' })
    const here = async (token?: string) => (await list({ q: 'badger' }, token)).items[0].installation
    const { id } = await install(platform, person.token, app)
    expect(await here()).toEqual({
      id,
      status: 'active',
      access_withdrawn: false,
      version: '1.0.0',
      upgrade_available: false,
    })
    await release('1.1.0')
    expect((await here()).upgrade_available).toBe(true)
    expect(await here((await signIn(platform)).token)).toBeNull()
    await platform.call('DELETE', `/console/installations/${id}`, { token: person.token })
    expect(await here()).toBeNull()
  })

  it('hides apps that are in review, suspended or delisted, and lists unsuspended ones again', async () => {
    const { app } = await listApp(platform, { name: 'Cormorant' })
    expect(await names({ q: 'cormorant' })).toEqual(['Cormorant'])
    await moderate(platform, app, 'suspend')
    expect(await names({ q: 'cormorant' })).toEqual([])
    expect(await names()).not.toContain('Cormorant')
    expect(await traces(app, ['word:c', 'all:featured', 'all:newest', 'all:name'])).toEqual([])
    await moderate(platform, app, 'unsuspend')
    expect(await names({ q: 'cormorant' })).toEqual(['Cormorant'])
    // Regardless of who changed the status, even if the listing wasn't updated.
    await platform.deps.table.transact([AppEntity.update(app, { set: { status: 'delisted' } })])
    expect(await names({ q: 'cormorant' })).toEqual([])
    expect(await names()).not.toContain('Cormorant')
  })

  it('finds words and prefixes, in any order, in name, slug, developer, category and summary', async () => {
    await listApp(platform, { name: 'Dörfliche Würze', summary: 'Zürich spices & more', category: 'ecommerce' })
    await listApp(platform, { name: 'Проверка счетов', summary: '请求支付 helper' })
    for (const q of ['dorf', 'WÜRZE', 'wurze dorfliche', 'spic zur', 'ecommerce wurz', 'ada wurze', '“spices”!'])
      expect(await names({ q }), q).toEqual(['Dörfliche Würze'])
    expect(await names({ q: 'счет провер' })).toEqual(['Проверка счетов'])
    expect(await names({ q: '支付' })).toEqual(['Проверка счетов'])
    for (const q of ['würze mars', 'erze', '!!', '#', 'AT#', '\u{10FFFF}']) expect(await names({ q }), q).toEqual([])
  })

  it('lists an app once when several words match the prefix, with exact matches first', async () => {
    await listApp(platform, { name: 'Echoes echoing', summary: 'echo echoed echoer' })
    await listApp(platform, { name: 'Echoic', summary: 'Only begins like it.' })
    expect(await names({ q: 'echo' })).toEqual(['Echoes echoing', 'Echoic'])
    expect(await paged({ q: 'echo' })).toEqual(['Echoes echoing', 'Echoic'])
    expect(await names({ q: 'echoi' })).toEqual(['Echoic', 'Echoes echoing'])
  })

  it('sorts featured apps first, then by age, and paginates every order completely', async () => {
    const category = 'legal'
    const made = []
    for (const name of ['Mmm', 'Zzz', 'Äää', 'Bbb']) {
      platform.clock.advance(1_000)
      made.push((await listApp(platform, { name, category })).app)
    }
    expect(await paged({ category })).toEqual(['Bbb', 'Äää', 'Zzz', 'Mmm'])
    await feature(made[1] as { id: string }, platform.clock.now())
    expect(await paged({ category })).toEqual(['Zzz', 'Bbb', 'Äää', 'Mmm'])
    expect(await paged({ category, sort: 'newest' })).toEqual(['Bbb', 'Äää', 'Zzz', 'Mmm'])
    expect(await paged({ category, sort: 'name' })).toEqual(['Äää', 'Bbb', 'Mmm', 'Zzz'])
    expect((await list({ category, limit: '1' })).items[0].featured).toBe(true)
    await feature(made[1] as { id: string }, undefined)
    expect(await paged({ category })).toEqual(['Bbb', 'Äää', 'Zzz', 'Mmm'])
    expect(await names({ category: 'hr' })).toEqual([])
    expect(await names({ category, q: 'bbb' })).toEqual(['Bbb'])
    expect(await names({ category: 'hr', q: 'bbb' })).toEqual([])
  })

  it('finds an edited app by its current texts at once, and by no former ones', async () => {
    const { app, developer } = await listApp(platform, { name: 'Falcon', summary: 'Flies.', category: 'finance' })
    const edit = (fields: object) => developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, fields)
    expect((await edit({ name: 'Gazelle', category: 'sales' })).body).toMatchObject({ category: 'sales' })
    expect([await names({ category: 'sales' }), await names({ q: 'gazelle' })]).toEqual([['Falcon'], []])
    await approveChanges(app)
    expect(await names({ q: 'falcon' })).toEqual([])
    expect(await names({ q: 'gazelle flies' })).toEqual(['Gazelle'])
    expect([await names({ category: 'finance' }), await names({ category: 'sales' })]).toEqual([[], ['Gazelle']])
    await edit({ category: null })
    expect(await names({ category: 'sales' })).toEqual([])
    expect((await edit({ category: 'nonsense' })).body.error.details.fields).toHaveProperty('category')
    // Two concurrent edits both take effect.
    await Promise.all([edit({ name: 'Heron' }), edit({ summary: 'Wades.' }), edit({ name: 'Heron' })])
    await approveChanges(app)
    expect(await names({ q: 'heron wades' })).toEqual(['Heron'])
    expect(await names({ q: 'gazelle' })).toEqual([])
    await moderate(platform, app, 'suspend')
    expect(await traces(app, ['word:h', 'word:w', 'word:g', 'word:f', 'all:name'])).toEqual([])
  })

  it('lists the app by the current values after concurrent edits of different fields', async () => {
    const { app, developer } = await listApp(platform, { name: 'Osprey', summary: 'Dives.' })
    await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { name: 'Puffin', summary: 'Swims.' })
    const work = workOf(platform)
    const { table } = work
    let edits = 0
    // The other edit arrives after this one reads the app, and before it writes the listing.
    const getAll: typeof table.getAll = async (refs) => {
      if (refs.some(({ entity }) => entity.name === ListedAppEntity.name) && edits++ === 0) await approveChanges(app)
      return table.getAll(refs)
    }
    const slow = new Proxy(table, {
      get: (of, name) => (name === 'getAll' ? getAll : Reflect.get(of, name).bind?.(of)),
    })
    await editApp({ ...work, table: slow }, developer.id, app.id, { category: 'sales' })
    expect(edits).toBeGreaterThan(0)
    expect(await names({ q: 'puffin swims', category: 'sales' })).toEqual(['Puffin'])
    expect([await names({ q: 'osprey' }), await names({ q: 'dives' })]).toEqual([[], []])
  })

  it('leaves no listing of a suspended app when an edit races the suspension', async () => {
    const { app, developer } = await listApp(platform, { name: 'Ibis' })
    await Promise.all([
      developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { name: 'Ibex' }),
      moderate(platform, app, 'suspend'),
    ])
    const { status } = (await platform.deps.table.get(AppEntity, app)) ?? {}
    if (status !== 'suspended') await moderate(platform, app, 'suspend')
    expect(await platform.deps.table.get(ListedAppEntity, { app_id: app.id })).toBeUndefined()
    expect(await traces(app, ['word:i', 'all:name', 'all:featured'])).toEqual([])
  })

  it('moves a listing with the maximum number of words in one transaction', async () => {
    const words = (letter: string) => Array.from({ length: 60 }, (_, i) => `${letter}${i}`).join(' ')
    const { app, developer } = await listApp(platform, { name: 'Jay', summary: words('j'), category: 'content' })
    const edited = await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, {
      name: 'Kite',
      summary: words('k'),
    })
    expect(edited.status).toBe(200)
    await approveChanges(app)
    expect(await names({ q: 'k3' })).toEqual(['Kite'])
    expect(await names({ q: 'j3' })).toEqual([])
  })

  it('refuses invalid filters, and the cursor of another person or query', async () => {
    for (const query of ['category=x', 'sort=x', 'q=', 'q=%20', `q=${'x'.repeat(101)}`, 'limit=0', 'page=2']) {
      const { status } = await platform.call('GET', `/console/marketplace?${query}`, { token: person.token })
      expect(status, query).toBe(422)
    }
    const { next_cursor } = await list({ limit: '1' })
    const ask = (query: string, token = person.token) =>
      platform.call('GET', `/console/marketplace?${query}`, { token })
    expect((await ask(`limit=1&cursor=${next_cursor}`)).status).toBe(200)
    expect((await ask(`limit=1&sort=name&cursor=${next_cursor}`)).body.error.code).toBe('bad_request')
    expect((await ask(`limit=1&cursor=${next_cursor}`, (await signIn(platform)).token)).status).toBe(400)
  })
})

describe('GET /console/install/{slug}', () => {
  const link = (slug: string, token = person.token) => platform.call('GET', `/console/install/${slug}`, { token })

  it('shows the maker, the requested scopes, the installation and whether the caller may install', async () => {
    const config = { type: 'object', properties: { region: { type: 'string' } } }
    const { app } = await listApp(
      platform,
      { name: 'Lynx', requested_scopes: ['runs:write', 'tools:invoke'], privacy_url: 'https://example.com/privacy' },
      { config },
    )
    const { status, body } = await link(app.slug)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      app: { id: app.id, name: 'Lynx', developer_name: 'Ada Example', privacy_url: 'https://example.com/privacy' },
      agent: { id: expect.stringContaining(app.slug), version: '1.0.0' },
      scopes: [
        { scope: 'runs:write', description: expect.any(String), dangerous: false, denied: false, granted: false },
        { scope: 'tools:invoke', dangerous: true },
      ],
      authorize: null,
      config,
      installation: null,
      can_install: true,
      blocked_by: null,
    })
    const { id } = await install(platform, person.token, app)
    expect((await link(app.slug)).body).toMatchObject({ installation: { id }, scopes: [{ granted: true }, {}] })
  })

  it('returns the parameters for starting the consent of an integration', async () => {
    const redirect_uris = ['https://client.example/callback']
    const install_url = 'https://client.example/install'
    const { app } = await listApp(platform, { type: 'integration', redirect_uris, install_url })
    expect((await link(app.slug)).body).toMatchObject({
      app: { needs_oauth: true, install_url },
      authorize: {
        url: 'https://platform.test/oauth/authorize',
        client_id: app.id,
        scope: 'runs:write tools:invoke',
        redirect_uris,
      },
    })
  })

  it('names the reason why the caller may not install: role, denied scope, suspension', async () => {
    const { app } = await listApp(platform)
    const plain = await signIn(platform, 'member')
    expect((await link(app.slug, plain.token)).body).toMatchObject({ can_install: false, blocked_by: 'admin_required' })
    const strict = await signIn(platform)
    const bans = { denied_tools: [], denied_scopes: ['runs:write'] }
    await platform.call('PUT', '/console/settings/bans', { token: strict.token, body: bans })
    expect((await link(app.slug, strict.token)).body).toMatchObject({
      blocked_by: 'scope_denied_by_admin',
      scopes: [{ scope: 'runs:write', denied: true }, { denied: false }],
    })
    const { id } = await install(platform, person.token, app)
    await moderate(platform, app, 'suspend')
    expect((await link(app.slug)).body).toMatchObject({ blocked_by: 'app_suspended', installation: { id } })
    // Not found for those who have not installed it.
    expect((await link(app.slug, strict.token)).status).toBe(404)
  })

  it('returns a delisted app where it is installed, and not_found elsewhere', async () => {
    const { app } = await listApp(platform)
    const [owner, stranger] = [await signIn(platform), await signIn(platform)]
    const { id } = await install(platform, owner.token, app)
    await platform.deps.table.transact([AppEntity.update(app, { set: { status: 'delisted' } })])
    const { body } = await link(app.slug, owner.token)
    expect(body).toMatchObject({ can_install: true, blocked_by: null, installation: { id } })
    expect((await link(app.slug, stranger.token)).status).toBe(404)
  })

  it('is not_found for an unapproved app, except in its developer’s sandbox', async () => {
    const { app, developer } = await listApp(platform)
    await platform.deps.table.transact([AppEntity.update(app, { set: { status: 'draft' } })])
    expect((await link(app.slug)).status).toBe(404)
    for (const slug of ['surely-not-there', '..%2f', 'A'.repeat(300), 'a'.repeat(3_000)])
      expect((await link(slug)).status).toBe(404)
    const { body } = await platform.call('POST', '/console/session', {
      body: { user: 'sandbox-owner', workspace: developer.workspaceId },
    })
    const seen = await link(app.slug, body.token)
    expect([seen.status, seen.body.can_install]).toEqual([200, true])
  })
})
