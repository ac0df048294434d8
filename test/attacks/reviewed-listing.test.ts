import { beforeEach, describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { asAdmin, submitApp } from '#test/functions/admin/moderation-support.ts'
import { actors } from '#testkit/oauth.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const admin = (...given: Parameters<ReturnType<typeof asAdmin>>) => asAdmin(platform)(...given)
const stored = async (id: string) => {
  const app = await platform.deps.table.get(AppEntity, { id })
  if (!app) throw new Error('no such app')
  return app
}

const LIVE = {
  summary: 'Answers questions about stock.',
  homepage_url: 'https://honest.example/',
  logo_url: 'https://honest.example/logo.png',
  redirect_uris: ['https://honest.example/callback', 'https://honest.example/second'],
  requested_scopes: ['runs:read', 'tools:invoke'],
}

/** Creates an approved, listed app of a verified developer. */
const reviewedApp = async (fields: Record<string, unknown> = {}) => {
  const { developer, app } = await submitApp(platform, { type: 'integration', ...LIVE, ...fields })
  await admin('POST', `/admin/developers/${developer.id}/verify`)
  await succeeded(admin('POST', `/admin/apps/${app.id}/approve`, {}))
  platform.clock.advance(1_000)
  const patch = (body: object) => developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, body)
  const read = async () => (await developer.call('GET', `/api/v1/dev/apps/${app.id}`)).body
  return { developer, app, patch, read, name: (await stored(app.id)).name }
}

/** Fields in the documented order. */
const CHANGED = ['name', 'summary', 'logo_url', 'homepage_url', 'redirect_uris', 'requested_scopes'] as const

const queued = async (appId: string) =>
  (await admin('GET', '/admin/review?kind=revision&limit=100')).body.items.filter(
    (item: { app: { id: string } }) => item.app.id === appId,
  )

const decide = (appId: string, revision: string, decision: 'approve' | 'reject', body: object = {}) =>
  admin('POST', `/admin/apps/${appId}/revisions/${revision}/${decision}`, body)

describe('the developer of an approved app', () => {
  it('can’t rename it, swap its logo or host, or widen its scopes for customers before moderation approved that', async () => {
    const { developer, app, patch, name } = await reviewedApp()
    const swap = {
      name: 'Your Bank',
      summary: 'Sign in to your bank.',
      logo_url: 'https://evil.example/bank.png',
      homepage_url: 'https://evil.example/',
      redirect_uris: [...LIVE.redirect_uris, 'https://evil.example/callback'],
      requested_scopes: [...LIVE.requested_scopes, 'members:read', 'files:write', 'chat:write', 'tasks:write'],
    }
    const answer = await patch(swap)
    expect(answer.status).toBe(200)
    // The usual fields say what is live, and `pending` says what waits for review.
    expect(answer.body).toMatchObject({ name, ...LIVE, status: 'approved', verified: false })
    expect(answer.body.pending_revision).toMatchObject({ changes: swap, badge_withheld: true })
    expect((await developer.call('GET', `/api/v1/dev/apps/${app.id}`)).body).toEqual(answer.body)

    const { authorize, link, signIn, open, decide: consent } = actors(platform)
    const live = await stored(app.id)
    const to = { redirect_uri: LIVE.redirect_uris[0] }
    const evil = await authorize(live, { redirect_uri: 'https://evil.example/callback' })
    expect(evil.body.error.code).toBe('invalid_redirect_uri')
    expect((await authorize(live, { ...to, scope: 'files:write' })).body.error.code).toBe('insufficient_scope')
    const person = await signIn()
    const tg = await link(live, to)
    const shown = (await open(person.token, tg)).body
    expect(shown.app).toMatchObject({ name, summary: LIVE.summary, logo_url: LIVE.logo_url, verified: false })
    expect(shown.scopes.map(({ scope }: { scope: string }) => scope)).toEqual(LIVE.requested_scopes)
    expect((await consent(person.token, tg)).status).toBe(200)

    const { body: listing } = await platform.call('GET', `/console/install/${app.slug}`, { token: person.token })
    expect(listing.app).toMatchObject({ name, summary: LIVE.summary, verified: false })
    const search = await platform.call('GET', '/console/marketplace?q=bank', { token: person.token })
    expect(search.body.items).toEqual([])
    expect(await queued(app.id)).toMatchObject([
      { kind: 'revision', revision: { id: answer.body.pending_revision.id, fields: [...CHANGED] } },
    ])
  })

  it('gets the changes and the badge once moderators approve exactly what they saw', async () => {
    const { app, patch, read } = await reviewedApp()
    const first = (await patch({ name: 'Warehouse Keeper', support_email: 'new@honest.example' })).body
    expect(first).toMatchObject({ support_email: 'new@honest.example', verified: false })
    const dossier = await admin('GET', `/admin/apps/${app.id}`)
    expect(dossier.body.app.pending_revision.changes).toEqual({ name: 'Warehouse Keeper' })
    // The developer slips in another change while the moderator reads.
    const second = (await patch({ logo_url: 'https://evil.example/logo.png' })).body
    const late = await decide(app.id, first.pending_revision.id, 'approve')
    expect([late.status, late.body.error.code]).toEqual([409, 'conflict'])
    expect(await read()).toMatchObject({ logo_url: LIVE.logo_url })
    const approved = await decide(app.id, second.pending_revision.id, 'approve')
    expect(approved.body).toMatchObject({
      name: 'Warehouse Keeper',
      logo_url: 'https://evil.example/logo.png',
      verified: true,
      pending_revision: null,
    })
    expect(await queued(app.id)).toEqual([])
    const { token } = await actors(platform).signIn()
    const found = await platform.call('GET', '/console/marketplace?q=warehouse', { token })
    expect(found.body.items).toMatchObject([{ id: app.id, name: 'Warehouse Keeper', verified: true }])
    const history = (await admin('GET', `/admin/apps/${app.id}`)).body.history
    expect(history.find(({ action }: { action: string }) => action === 'revision.approved')).toMatchObject({
      details: { after: { name: 'Warehouse Keeper', logo_url: 'https://evil.example/logo.png' } },
    })
  })

  it('reads the reason of a rejection, and the app stays as it was, with its badge', async () => {
    const { developer, app, patch, read, name } = await reviewedApp()
    const { pending_revision } = (await patch({ name: 'Your Bank' })).body
    const rejected = await decide(app.id, pending_revision.id, 'reject', { reason: 'You aren’t a bank.' })
    expect(rejected.status).toBe(200)
    expect(await read()).toMatchObject({ name, verified: true, pending_revision: null })
    const { body } = await developer.call('GET', `/api/v1/dev/apps/${app.id}/messages`)
    expect(body.items[0].text).toContain('You aren’t a bank.')
    expect((await decide(app.id, pending_revision.id, 'approve')).status).toBe(409)
  })

  it('narrows scopes and removes redirect URIs at once, and never widens both again without review', async () => {
    const { patch } = await reviewedApp()
    const narrowed = (await patch({ redirect_uris: [LIVE.redirect_uris[1]], requested_scopes: ['runs:read'] })).body
    expect(narrowed).toMatchObject({
      redirect_uris: [LIVE.redirect_uris[1]],
      requested_scopes: ['runs:read'],
      verified: true,
      pending_revision: null,
    })
    const again = (await patch({ redirect_uris: LIVE.redirect_uris, requested_scopes: LIVE.requested_scopes })).body
    expect(again.redirect_uris, 'its host was reviewed').toEqual(LIVE.redirect_uris)
    expect(again).toMatchObject({
      requested_scopes: ['runs:read'],
      pending_revision: { changes: { requested_scopes: LIVE.requested_scopes }, badge_withheld: false },
      verified: true,
    })
    const mixed = (await patch({ redirect_uris: [LIVE.redirect_uris[0], 'https://other.example/cb'] })).body
    expect(mixed).toMatchObject({ redirect_uris: [LIVE.redirect_uris[0]], verified: false })
    const replaced = (await patch({ redirect_uris: ['https://other.example/cb'] })).body
    expect(replaced.redirect_uris, 'the flow of customers works until the decision').toEqual([LIVE.redirect_uris[0]])
  })

  it('withdraws a change by setting the live value again', async () => {
    const { app, patch, name } = await reviewedApp()
    expect((await patch({ name: 'Your Bank', homepage_url: null })).body.pending_revision.changes).toEqual({
      name: 'Your Bank',
      homepage_url: null,
    })
    expect((await patch({ name })).body).toMatchObject({
      pending_revision: { changes: { homepage_url: null }, badge_withheld: false },
      verified: true,
    })
    expect((await patch({ homepage_url: LIVE.homepage_url })).body.pending_revision).toBeNull()
    expect(await queued(app.id)).toEqual([])
    expect((await admin('GET', '/admin/review?kind=revision')).body.total).toBe(
      (await admin('GET', '/admin/review?kind=revision&limit=100')).body.items.length,
    )
  })

  it('doesn’t get the badge by being verified while a changed name waits', async () => {
    const { developer, app } = await submitApp(platform, LIVE)
    await admin('POST', `/admin/apps/${app.id}/approve`, {})
    const { body } = await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { name: 'Your Bank' })
    await admin('POST', `/admin/developers/${developer.id}/verify`)
    expect((await stored(app.id)).verified).toBe(false)
    await decide(app.id, body.pending_revision.id, 'reject', { reason: 'No.' })
    expect((await stored(app.id)).verified).toBe(true)
  })

  it('can’t have two concurrent edits approved as one', async () => {
    const { app, patch, read } = await reviewedApp()
    const answers = await Promise.all([
      patch({ name: 'First Name' }),
      patch({ logo_url: 'https://a.example/l.png' }),
      patch({ requested_scopes: ['runs:read'] }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const { pending_revision, requested_scopes } = await read()
    expect(pending_revision.changes).toEqual({ name: 'First Name', logo_url: 'https://a.example/l.png' })
    expect(requested_scopes).toEqual(['runs:read'])
    expect(await queued(app.id)).toHaveLength(1)
  })
})

describe('an app in its first review', () => {
  it('isn’t approved if it differs from what the moderator saw', async () => {
    const { developer, app } = await submitApp(platform, LIVE)
    const { updated_at } = (await admin('GET', `/admin/apps/${app.id}`)).body.app
    platform.clock.advance(1_000)
    await developer.call('PATCH', `/api/v1/dev/apps/${app.id}`, { name: 'Your Bank' })
    const late = await admin('POST', `/admin/apps/${app.id}/approve`, { updated_at })
    expect([late.status, late.body.error.code]).toEqual([409, 'conflict'])
    const now = (await admin('GET', `/admin/apps/${app.id}`)).body.app
    expect((await admin('POST', `/admin/apps/${app.id}/approve`, { updated_at: now.updated_at })).status).toBe(200)
  })
})

describe('a blocked developer', () => {
  it('gets no new installation or consent from the call on, and existing ones stay', async () => {
    const { developer, app } = await reviewedApp()
    const { consented, link, signIn, decide: consent, authorize, redeem } = actors(platform)
    const to = { redirect_uri: LIVE.redirect_uris[0] }
    const before = await stored(app.id)
    const customer = await consented(before, to)
    const secret = { app: before, clientSecret: app.client_secret }
    const { body: tokens } = await redeem(secret, customer, to)
    const open = await link(before, to)
    const person = await signIn()
    const { status } = await admin('POST', `/admin/developers/${developer.id}/block`, { reason: 'Deceives people.' })
    expect(status).toBe(200)

    const late = await consent(person.token, open)
    expect([late.status, late.body.error.code]).toEqual([403, 'app_not_approved'])
    expect((await authorize(before, to)).body.error.code).toBe('app_not_approved')
    const added = await platform.call('POST', '/console/installations', {
      token: person.token,
      body: { slug: app.slug },
    })
    expect(added.body.error.code).toBe('app_not_approved')
    const page = await platform.call('GET', `/console/install/${app.slug}`, { token: person.token })
    expect(page.body).toMatchObject({ can_install: false, blocked_by: 'app_not_approved' })
    const listed = await platform.call('GET', '/console/marketplace?limit=100', { token: person.token })
    expect(listed.body.items.map(({ id }: { id: string }) => id)).not.toContain(app.id)
    expect((await platform.call('GET', '/api/v1/me', { token: tokens.access_token })).status).toBe(200)

    await admin('POST', `/admin/developers/${developer.id}/unblock`)
    expect((await consent(person.token, open)).status).toBe(200)
  })

  it('loses existing installations too if staff choose so in that call, and a repeat completes it', async () => {
    const { developer, app } = await reviewedApp()
    const other = await reviewedApp()
    const block = () =>
      admin('POST', `/admin/developers/${developer.id}/block`, { reason: 'Deceives people.', installations: 'suspend' })
    expect((await block()).body.status).toBe('blocked')
    expect((await stored(app.id)).status).toBe('suspended')
    expect((await block()).status).toBe(200)
    expect((await stored(other.app.id)).status).toBe('approved')
    await admin('POST', `/admin/developers/${developer.id}/unblock`)
    expect((await stored(app.id)).status, 'staff decide about each app').toBe('suspended')
  })
})
