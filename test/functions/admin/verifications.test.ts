import { beforeEach, describe, expect, it } from 'vitest'
import { DeveloperEntity } from '#shared/identity/developers/entity.ts'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { badgeWrites } from '#shared/moderation/verification/badge.ts'
import { AuditEntity, auditOf } from '#shared/staff/audit/entity.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { signIn } from '#test/functions/console/marketplace-support.ts'
import { APPLICATION, newApp, newDeveloper, type TestDeveloper } from '#testkit/developers.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { asAdmin, newModerator, submitApp } from './moderation-support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const admin = (...args: Parameters<ReturnType<typeof asAdmin>>) => asAdmin(platform)(...args)
const codeOf = ({ status, body }: Answer) => (status < 300 ? status : body.error.code)
const apply = async (developer: TestDeveloper): Promise<string> =>
  (await developer.call('POST', '/api/v1/dev/verification', APPLICATION)).body.id
const totals = async () =>
  Promise.all(
    ['', '?status=pending', '?status=approved', '?status=rejected'].map(
      async (query) => (await admin('GET', `/admin/verifications${query}`)).body.total,
    ),
  )
const decide = (id: string, decision: string, headers?: Record<string, string>) =>
  admin('POST', `/admin/verifications/${id}/decide`, { decision, reason: 'The register says so.' }, headers)

describe('an application for the verified badge', () => {
  it('gives the badge to the developer, their apps and their marketplace listings when approved', async () => {
    const { developer, app } = await submitApp(platform)
    await admin('POST', `/admin/apps/${app.id}/approve`)
    const [all = 0, pending = 0, approved = 0, rejected = 0] = await totals()
    const id = await apply(developer)
    expect(await totals()).toEqual([all + 1, pending + 1, approved, rejected])
    const { body } = await decide(id, 'approve')
    expect(body).toMatchObject({ id, status: 'approved', developer_id: developer.id, decided_by: expect.any(String) })
    expect(await totals()).toEqual([all + 1, pending, approved + 1, rejected])
    expect((await developer.call('GET', '/api/v1/dev/verification')).body).toMatchObject({
      verified: true,
      application: { status: 'approved', reason: 'The register says so.' },
    })
    const { token } = await signIn(platform)
    const shown = await platform.call('GET', '/console/marketplace?limit=100', { token })
    expect(shown.body.items.find((one: { id: string }) => one.id === app.id).verified).toBe(true)
    const later = await newApp(developer)
    expect((await developer.call('GET', `/api/v1/dev/apps/${later.id}`)).body.verified).toBe(true)
    const notifications = await platform.deps.table.query(
      NotificationEntity,
      { workspace_id: developer.workspaceId },
      { limit: 5 },
    )
    expect(notifications.items).toMatchObject([{ kind: 'verification.decided', body: 'The register says so.' }])
    const { items } = await platform.deps.table.listed(AuditEntity, auditOf(id), { limit: 10 })
    expect(items.find(({ action }) => action === 'verification.approved')).toMatchObject({
      details: { before: { status: 'pending' }, after: { status: 'approved' }, developer_id: developer.id },
    })
  })

  it('reports the reason when rejected, and allows another application', async () => {
    const developer = await newDeveloper(platform)
    const id = await apply(developer)
    expect((await decide(id, 'reject')).body.status).toBe('rejected')
    expect((await developer.call('GET', '/api/v1/dev/verification')).body).toMatchObject({
      verified: false,
      application: { reason: 'The register says so.' },
    })
    const second = await apply(developer)
    expect(second).toMatch(/^vrf_/)
    expect(codeOf(await decide(id, 'approve'))).toBe('conflict')
    expect(codeOf(await decide(second, 'approve'))).toBe(200)
  })

  it('is decided once by ten concurrent moderators, and keeps the totals exact', async () => {
    const id = await apply(await newDeveloper(platform))
    const before = await totals()
    const moderators = await Promise.all(Array.from({ length: 10 }, () => newModerator(platform)))
    const answers = await Promise.all(
      moderators.map(({ headers }, i) => decide(id, i % 2 ? 'approve' : 'reject', headers)),
    )
    expect(answers.map(codeOf).filter((code) => code !== 'conflict')).toEqual([200])
    const after = await totals()
    expect([after[0], after[1]]).toEqual([before[0], before[1] - 1])
    expect(after[2] + after[3]).toBe(before[2] + before[3] + 1)
  })

  it('gives the badge to every app when approved while apps are being created', async () => {
    const developer = await newDeveloper(platform)
    const id = await apply(developer)
    const [decided, ...made] = await Promise.all([
      decide(id, 'approve'),
      ...Array.from({ length: 6 }, (_, i) =>
        developer.call('POST', '/api/v1/dev/apps', {
          slug: `raced-${i}-${id.slice(-8)}`,
          type: 'agent',
          name: 'Raced',
        }),
      ),
    ])
    expect(codeOf(decided as Answer)).toBe(200)
    expect(made.map(codeOf).every((code) => code === 201 || code === 'conflict')).toBe(true)
    const { body } = await developer.call('GET', '/api/v1/dev/apps')
    expect(body.items.map(({ verified }: { verified: boolean }) => verified)).not.toContain(false)
  })

  it.each([0, 1])(
    'refuses to give the badge for %i known apps when another one was created meanwhile',
    async (known) => {
      const developer = await newDeveloper(platform)
      const create = (n: number) =>
        developer.call('POST', '/api/v1/dev/apps', {
          slug: `late-${n}-${developer.id.slice(-8)}`,
          type: 'agent',
          name: 'Late',
        })
      for (let n = 0; n < known; n++) expect((await create(n)).status).toBe(201)
      const { table } = platform.deps
      const record = await table.get(DeveloperEntity, { id: developer.id })
      if (!record) throw new Error('no developer')
      const writes = await badgeWrites(platform.deps, record, true)
      expect((await create(known)).status).toBe(201)
      await expect(table.transact(writes)).rejects.toBeInstanceOf(ConditionFailed)
      await table.transact(await badgeWrites(platform.deps, record, true))
      const { body } = await developer.call('GET', '/api/v1/dev/apps')
      expect(body.items.map(({ verified }: { verified: boolean }) => verified)).not.toContain(false)
    },
  )
})
