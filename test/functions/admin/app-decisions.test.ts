import { beforeEach, describe, expect, it } from 'vitest'
import { type App, AppEntity } from '#shared/catalogue/apps/entity.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { AdminEntity } from '#shared/staff/admins/entity.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { adminToken, installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const KEY = { 'x-admin-key': 'local-admin-key' }

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const appIn = async (status: App['status']) => {
  const made = await installed(platform.deps)
  await platform.deps.table.transact([
    AppEntity.update({ id: made.app.id }, { set: { status, submitted_at: platform.clock.now() } }),
    VersionEntity.update(made.version, { set: { status: 'published' } }),
  ])
  return made
}

const act = (id: string, action: string, body?: object, headers: Record<string, string> = KEY) =>
  platform.call('POST', `/admin/apps/${id}/${action}`, { body, headers })
const stored = (id: string) => platform.deps.table.get(AppEntity, { id })

const moderator = async () => {
  const now = platform.clock.now()
  const id = newId('admin', now)
  await platform.deps.table.transact([
    AdminEntity.create({
      ...stampOf(id),
      email: `${id}@example.com`,
      name: 'Mod',
      role: 'moderator',
      password_hash: 'none',
      session_version: 1,
    }),
  ])
  const token = await adminToken(platform.deps, id)
  return { id, headers: { authorization: `Bearer ${token}` } }
}

describe('a moderation decision', () => {
  it('is a message to the developer with its parts as data, and in English as text', async () => {
    const { app } = await appIn('in_review')
    const reason = 'Out of date.'
    for (const [action, body] of [
      ['reject', { reason }],
      ['approve', {}],
      ['delist', { reason }],
      ['approve', {}],
      ['suspend', { reason }],
      ['unsuspend', {}],
    ] as const) {
      platform.clock.advance(1)
      if (action === 'approve' && (await stored(app.id))?.status === 'rejected')
        await platform.deps.table.transact([AppEntity.update({ id: app.id }, { set: { status: 'in_review' } })])
      expect((await act(app.id, action, body)).status).toBe(200)
    }
    const { body } = await platform.call('GET', `/admin/apps/${app.id}/messages`, { headers: KEY })
    const none = { version: null, fields: null }
    expect(body.items.map(({ text, decision }: { text: string; decision: object }) => [text, decision])).toEqual([
      ['The app is no longer suspended.', { code: 'app.unsuspended', ...none, reason: null }],
      ['The app was suspended. Out of date.', { code: 'app.suspended', ...none, reason }],
      ['The app is back in the marketplace.', { code: 'app.relisted', ...none, reason: null }],
      [
        'The app was removed from the marketplace. Existing installations keep working. Out of date.',
        { code: 'app.delisted', ...none, reason },
      ],
      ['The app was approved.', { code: 'app.approved', ...none, reason: null }],
      ['The app was rejected. Out of date.', { code: 'app.rejected', ...none, reason }],
    ])
  })

  it('approves an app in review together with its promoted version', async () => {
    const { app, version } = await appIn('in_review')
    const answer = await act(app.id, 'approve')
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ id: app.id, status: 'approved', developer_id: app.developer_id })
    expect(await stored(app.id)).toMatchObject({ status: 'approved', approved_at: platform.clock.now() })
    expect((await platform.deps.table.get(VersionEntity, version))?.status).toBe('approved')
  })

  it('approves the version that was reviewed, never one that the developer promoted in the meantime', async () => {
    const { app, version } = await appIn('in_review')
    const { table } = platform.deps
    const { promoted_version } = (await platform.call('GET', `/admin/apps/${app.id}`, { headers: KEY })).body.app
    const other = { ...version, id: newId('version', platform.clock.now()), version: '9.0.0' }
    await table.transact([
      VersionEntity.create({ ...other, status: 'published' }),
      AppEntity.update({ id: app.id }, { set: { promoted_version: other.version, promoted_version_id: other.id } }),
    ])
    const late = await act(app.id, 'approve', { promoted_version })
    expect([late.status, late.body.error.code, late.body.error.details]).toEqual([
      409,
      'conflict',
      { promoted_version: '9.0.0' },
    ])
    expect(await stored(app.id)).toMatchObject({ status: 'in_review' })
    expect((await table.get(VersionEntity, other))?.status).toBe('published')
    expect((await act(app.id, 'approve', { promoted_version: '9.0.0' })).status).toBe(200)
    expect((await table.get(VersionEntity, other))?.status).toBe('approved')
  })

  it('rejects with a reason that the developer sees', async () => {
    const { app } = await appIn('in_review')
    const answer = await act(app.id, 'reject', { reason: 'No privacy policy.' })
    expect(answer.body).toMatchObject({ status: 'rejected', status_reason: 'No privacy policy.' })
    expect((await stored(app.id))?.approved_at).toBeUndefined()
  })

  it('requires an app in review', async () => {
    for (const status of ['draft', 'approved', 'rejected', 'suspended'] as const) {
      const { app } = await appIn(status)
      for (const answer of [await act(app.id, 'approve'), await act(app.id, 'reject', { reason: 'x' })]) {
        expect([answer.status, answer.body.error.code], status).toEqual([409, 'conflict'])
      }
    }
  })

  it('requires a reason when it takes something away', async () => {
    const { app } = await appIn('in_review')
    for (const action of ['reject', 'suspend']) {
      for (const body of [undefined, {}, { reason: '' }, { reason: '  ' }, { reason: 1 }]) {
        const answer = await act(app.id, action, body)
        expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error'])
        expect(answer.body.error.details.fields).toHaveProperty('reason')
      }
    }
    expect((await stored(app.id))?.status).toBe('in_review')
  })

  it('takes effect once when an approval and a rejection arrive concurrently', async () => {
    const { app } = await appIn('in_review')
    const answers = await Promise.all([
      act(app.id, 'approve'),
      act(app.id, 'reject', { reason: 'x' }),
      act(app.id, 'approve'),
      act(app.id, 'reject', { reason: 'x' }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  })

  it('is audited with the actor, the key, and the state before and after', async () => {
    const { app } = await appIn('in_review')
    await act(app.id, 'reject', { reason: 'Because.' })
    const { items } = await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 1 })
    expect(items[0]).toMatchObject({
      action: 'app.rejected',
      actor: { type: 'admin', id: expect.stringMatching(/^adm_/) },
      target: { type: 'app', id: app.id },
      details: { before: 'in_review', after: 'rejected', reason: 'Because.', key_name: 'local' },
    })
  })
})

describe('the kill switch', () => {
  it('suspends an app at once and restores its previous status', async () => {
    for (const status of ['draft', 'in_review', 'approved', 'rejected'] as const) {
      const { app, token } = await appIn(status)
      const works = async () => (await platform.call('GET', '/api/v1/me', { token })).body.error?.code
      expect(await works()).toBeUndefined()
      const suspended = await act(app.id, 'suspend', { reason: 'Abuse.' })
      expect(suspended.body).toMatchObject({ status: 'suspended', status_before: status, status_reason: 'Abuse.' })
      expect(await works()).toBe('app_suspended')
      expect((await act(app.id, 'suspend', { reason: 'Again.' })).body.error.code).toBe('conflict')
      const back = await act(app.id, 'unsuspend')
      expect(back.body).toMatchObject({ status, status_before: null, status_reason: null })
      expect(await works()).toBeUndefined()
      expect((await act(app.id, 'unsuspend')).body.error.code).toBe('conflict')
    }
  })

  it('is reserved for superadmins, while moderators can only approve and reject', async () => {
    const { headers } = await moderator()
    const { app } = await appIn('in_review')
    for (const [action, body] of [
      ['suspend', { reason: 'x' }],
      ['unsuspend', undefined],
    ] as const) {
      const answer = await act(app.id, action, body, headers)
      expect([answer.status, answer.body.error.code]).toEqual([403, 'admin_required'])
      expect(answer.body.error.message).toContain('superadmin')
    }
    expect((await act(app.id, 'approve', undefined, headers)).status).toBe(200)
  })
})
