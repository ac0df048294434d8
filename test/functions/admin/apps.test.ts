import { beforeEach, describe, expect, it } from 'vitest'
import { AuditEntity, auditOf } from '#shared/staff/audit/entity.ts'
import { install, signIn } from '#test/functions/console/marketplace-support.ts'
import { newApp, newDeveloper, publish, unique } from '#testkit/developers.ts'
import { type Answer, succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { asAdmin, newModerator, submitApp } from './moderation-support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const admin = (...args: Parameters<ReturnType<typeof asAdmin>>) => {
  platform.clock.advance(1)
  return asAdmin(platform)(...args)
}
const codeOf = ({ status, body }: Answer) => (status < 300 ? status : body.error.code)
const listed = async (query: string) => (await admin('GET', `/admin/apps?limit=100&${query}`)).body
const idsOf = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id)
const approved = async (fields: Record<string, unknown> = {}) => {
  const made = await submitApp(platform, fields)
  await succeeded(admin('POST', `/admin/apps/${made.app.id}/approve`))
  return made
}
const lastAudit = async (id: string) =>
  (await platform.deps.table.listed(AuditEntity, auditOf(id), { limit: 1 })).items[0]

describe('the list of all apps', () => {
  it('lists newest first by status and type, with exact totals through every change', async () => {
    const totals = async () => [
      (await listed('')).total,
      (await listed('status=in_review')).total,
      (await listed('status=approved&type=agent')).total,
      (await listed('status=draft&type=integration')).total,
    ]
    const before = await totals()
    const { app } = await submitApp(platform)
    platform.clock.advance(10)
    const draft = await newApp(await newDeveloper(platform), { type: 'integration' })
    const plus = (...by: number[]) => before.map((n, i) => n + (by[i] ?? 0))
    expect(await totals()).toEqual(plus(2, 1, 0, 1))
    expect(idsOf(await listed('')).slice(0, 2)).toEqual([draft.id, app.id])
    expect(idsOf(await listed('status=in_review'))[0]).toBe(app.id)
    await admin('POST', `/admin/apps/${app.id}/approve`)
    expect(await totals()).toEqual(plus(2, 0, 1, 1))
    await admin('POST', `/admin/apps/${app.id}/suspend`, { reason: 'Abuse.' })
    expect(await totals()).toEqual(plus(2, 0, 0, 1))
    await admin('POST', `/admin/apps/${app.id}/unsuspend`)
    expect(await totals()).toEqual(plus(2, 0, 1, 1))
  })

  it('finds apps by developer and by slug prefix, in combination with other filters', async () => {
    const developer = await newDeveloper(platform)
    const word = unique('prefix')
    const [one, two] = [
      await newApp(developer, { slug: `${word}-one` }),
      await newApp(developer, { slug: `${word}-two`, type: 'integration' }),
    ]
    await newApp(await newDeveloper(platform), { slug: `other-${word}` })
    expect(idsOf(await listed(`developer=${developer.id}`)).sort()).toEqual([one.id, two.id].sort())
    expect(await listed(`q=${word.toUpperCase()}`)).toMatchObject({ total: 2, items: [{ id: one.id }, { id: two.id }] })
    expect(idsOf(await listed(`q=${word}&type=integration`))).toEqual([two.id])
    expect(idsOf(await listed(`developer=${developer.id}&q=${word}-one`))).toEqual([one.id])
    expect(idsOf(await listed(`q=${one.id}`))).toEqual([one.id])
  })
})

describe('the admin view of an app', () => {
  it('includes versions with manifests, history, messages, reports and pending work', async () => {
    const { app, developer, version } = await submitApp(platform)
    await developer.call('POST', `/api/v1/dev/apps/${app.id}/messages`, { text: 'When?' })
    await admin('POST', `/admin/apps/${app.id}/approve`)
    const person = await signIn(platform)
    await install(platform, person.token, app)
    await platform.drain()
    await platform.call('PUT', `/console/apps/${app.id}/review`, { token: person.token, body: { rating: 5 } })
    const report = { app_id: app.id, category: 'spam', text: 'Too much.' }
    const { body: reported } = await platform.call('POST', '/console/abuse-reports', {
      token: person.token,
      body: report,
    })
    const { body: newer } = await publish(developer, app, { version: '1.1.0' })
    const dossier = (await admin('GET', `/admin/apps/${app.id}`)).body
    expect(dossier).toMatchObject({
      app: { id: app.id, status: 'approved' },
      developer: { id: developer.id },
      verification: 'none',
      listing: { featured_at: null },
      claim: null,
      waiting: [{ kind: 'version', id: newer.id }],
      versions: [
        { id: newer.id, status: 'in_review', promoted: false },
        { id: version, status: 'approved', promoted: true, manifest: { version: '1.0.0' }, runtime_type: 'webhook' },
      ],
      more_versions: false,
      installations: 1,
      reviews: { average: 5, count: 1, hidden: 0 },
      messages: 2,
      waits_for: 'developer',
      abuse_reports: [{ id: reported.id }],
    })
    expect(dossier.history.map(({ action }: { action: string }) => action)).toContain('app.approved')
    await admin('POST', `/admin/abuse-reports/${reported.id}/resolve`, { resolution: 'upheld', reason: 'Yes.' })
    expect((await admin('GET', `/admin/apps/${app.id}`)).body.abuse_reports).toEqual([])
  })
})

describe('a version awaiting review', () => {
  const waiting = async () => {
    const made = await approved()
    const { body } = await publish(made.developer, made.app, { version: '1.1.0' })
    const path = `/admin/apps/${made.app.id}/versions/${body.id}`
    const promote = () => made.developer.call('POST', `/api/v1/dev/apps/${made.app.id}/versions/1.1.0/promote`)
    return { ...made, waiting: body.id as string, path, promote }
  }

  it('can be approved without being promoted, and the developer can promote it afterwards', async () => {
    const { app, path, promote } = await waiting()
    expect(codeOf(await promote())).toBe('conflict')
    expect((await admin('POST', `${path}/approve`)).body).toMatchObject({ status: 'approved', promoted: false })
    expect((await admin('GET', `/admin/apps/${app.id}`)).body.app.promoted_version).toBe('1.0.0')
    expect(codeOf(await promote())).toBe(200)
    expect(await lastAudit(app.id)).toMatchObject({ action: 'version.promoted' })
  })

  it('can be rejected with a reason that the developer reads, and leaves the queue', async () => {
    const { app, developer, path, promote } = await waiting()
    const answer = await admin('POST', `${path}/reject`, { reason: 'It asks for too much.' })
    expect(answer.body).toMatchObject({ status: 'rejected', status_reason: 'It asks for too much.' })
    expect(await lastAudit(app.id)).toMatchObject({
      action: 'version.rejected',
      details: { before: { status: 'in_review' }, after: { status: 'rejected' }, version: '1.1.0' },
    })
    expect(codeOf(await promote())).toBe('conflict')
    const { body } = await developer.call('GET', `/api/v1/dev/apps/${app.id}/messages`)
    expect(body.items[0]).toMatchObject({
      text: 'Version 1.1.0 was rejected. It asks for too much.',
      decision: { code: 'version.rejected', version: '1.1.0', fields: null, reason: 'It asks for too much.' },
    })
    expect((await admin('GET', `/admin/apps/${app.id}`)).body.waiting).toEqual([])
  })

  it('is decided on once, and only through its own app', async () => {
    const { path, waiting: vid } = await waiting()
    const other = await approved()
    expect(codeOf(await admin('POST', `/admin/apps/${other.app.id}/versions/${vid}/approve`))).toBe('not_found')
    expect(codeOf(await admin('POST', `/admin/apps/${other.app.id}/versions/${other.version}/approve`))).toBe(
      'conflict',
    )
    const answers = await Promise.all(Array.from({ length: 6 }, () => admin('POST', `${path}/approve`)))
    expect(answers.map(codeOf).filter((code) => code !== 'conflict')).toEqual([200])
  })

  it('is reviewed together with its app when that was never approved', async () => {
    const { app, version } = await submitApp(platform)
    expect(codeOf(await admin('POST', `/admin/apps/${app.id}/versions/${version}/approve`))).toBe('conflict')
  })
})

describe('the marketplace', () => {
  const shown = async (token: string, app: { id: string }) =>
    (await platform.call('GET', '/console/marketplace?limit=100', { token })).body.items.find(
      ({ id }: { id: string }) => id === app.id,
    )

  it('hides a delisted app at once, keeps its installations working, and lists it again after an approval', async () => {
    const { app, developer } = await approved()
    const [person, stranger] = [await signIn(platform), await signIn(platform)]
    await install(platform, person.token, app)
    const answer = await admin('POST', `/admin/apps/${app.id}/delist`, { reason: 'Out of date.' })
    expect(answer.body).toMatchObject({ status: 'delisted', status_reason: 'Out of date.' })
    expect(await shown(stranger.token, app)).toBeUndefined()
    const again = await platform.call('POST', '/console/installations', {
      token: stranger.token,
      body: { slug: app.slug },
    })
    expect(again.status).toBeGreaterThanOrEqual(400)
    const installations = await platform.call('GET', '/console/installations', { token: person.token })
    expect(installations.body.items).toMatchObject([{ status: 'active' }])
    expect(codeOf(await admin('POST', `/admin/apps/${app.id}/delist`, { reason: 'Again.' }))).toBe('conflict')
    const { body } = await developer.call('GET', `/api/v1/dev/apps/${app.id}/messages`)
    expect(body.items[0].text).toContain('Out of date.')
    expect(codeOf(await admin('POST', `/admin/apps/${app.id}/approve`))).toBe(200)
    expect(await shown(stranger.token, app)).toBeDefined()
  })

  it('shows a featured app first, in the category that an admin chose', async () => {
    const [older, newer] = [await approved({ category: 'support' }), await approved({ category: 'support' })]
    const { token } = await signIn(platform)
    const order = async () =>
      idsOf((await platform.call('GET', '/console/marketplace?limit=100', { token })).body).filter((id) =>
        [older.app.id, newer.app.id].includes(id),
      )
    const curate = (id: string, body: object) => admin('POST', `/admin/apps/${id}/curation`, body)
    expect(await order()).toEqual([newer.app.id, older.app.id])
    const { body } = await curate(older.app.id, { featured: true, category: 'finance' })
    expect(body).toMatchObject({ featured: true, category: 'finance', featured_at: expect.any(String) })
    expect(await order()).toEqual([older.app.id, newer.app.id])
    expect(await shown(token, older.app)).toMatchObject({ featured: true, category: 'finance' })
    expect(await lastAudit(older.app.id)).toMatchObject({
      action: 'app.curated',
      details: { before: { featured: false, category: 'support' }, after: { featured: true, category: 'finance' } },
    })
    expect((await curate(older.app.id, { featured: false })).body).toMatchObject({
      category: 'finance',
      featured_at: null,
    })
    expect(await order()).toEqual([newer.app.id, older.app.id])
    const { app } = await submitApp(platform)
    expect(codeOf(await curate(app.id, { featured: true }))).toBe('conflict')
  })
})

describe('the messages between a developer and the moderators', () => {
  it('contain every message once, counted exactly, and hide moderators’ names from the developer', async () => {
    const { app, developer } = await submitApp(platform)
    const mo = await newModerator(platform, 'Mo')
    const path = `/admin/apps/${app.id}/messages`
    await Promise.all(Array.from({ length: 10 }, (_, i) => admin('POST', path, { text: `Number ${i}.` }, mo.headers)))
    const { body } = await admin('GET', `${path}?limit=3&offset=8`)
    expect([body.total, body.items.length]).toEqual([10, 2])
    expect(body.items[0].author).toEqual({ type: 'moderator', id: mo.id, name: 'Mo' })
    const theirs = await developer.call('GET', `/api/v1/dev/apps/${app.id}/messages`)
    expect(theirs.text).not.toContain(mo.id)
    expect(await lastAudit(app.id)).toMatchObject({ action: 'app.message_sent', actor: { type: 'admin', id: mo.id } })
  })
})
