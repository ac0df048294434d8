import { beforeEach, describe, expect, it } from 'vitest'
import { badgeWrites } from '#shared/domain/verification/badge.ts'
import { DeveloperEntity } from '#shared/entities/developers.ts'
import { NotificationEntity } from '#shared/entities/notifications.ts'
import { AuditEntity, auditOf } from '#shared/entities/platform.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { asAdmin, newModerator, submitted } from '#test/functions/app-moderation/support.ts'
import { newApp, newDeveloper, type TestDeveloper } from '#test/functions/developer/support.ts'
import { signIn } from '#test/functions/marketplace/support.ts'
import type { Answer } from '#test/support/platform.ts'
import { usingPlatform } from '#test/support/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const admin = (...args: Parameters<ReturnType<typeof asAdmin>>) => asAdmin(platform)(...args)
const codeOf = ({ status, body }: Answer) => (status < 300 ? status : body.error.code)
const APPLICATION = {
  legal_name: 'Example Ltd',
  website: 'https://example.com/',
  contact_email: 'legal@example.com',
  country: 'NL',
  about: 'We build agents.',
}
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
  it('approved gives the badge to the developer, their apps and what the marketplace shows', async () => {
    const { developer, app } = await submitted(platform)
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
    const told = await platform.deps.table.query(
      NotificationEntity,
      { workspace_id: developer.workspaceId },
      { limit: 5 },
    )
    expect(told.items).toMatchObject([{ kind: 'verification.decided', body: 'The register says so.' }])
    const { items } = await platform.deps.table.listed(AuditEntity, auditOf(id), { limit: 10 })
    expect(items.find(({ action }) => action === 'verification.approved')).toMatchObject({
      details: { before: { status: 'pending' }, after: { status: 'approved' }, developer_id: developer.id },
    })
  })

  it('rejected tells the reason, and another may be made', async () => {
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

  it('is decided on once by ten moderators at a time, and the totals stay exact', async () => {
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

  it('approved while apps are created leaves none without the badge', async () => {
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

  it.each([0, 1])('the badge is not given with %i apps known when another one came to be meanwhile', async (known) => {
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
    if (!record) throw new Error('there is no such developer')
    const writes = await badgeWrites(platform.deps, record, true)
    expect((await create(known)).status).toBe(201)
    await expect(table.transact(writes)).rejects.toBeInstanceOf(ConditionFailed)
    await table.transact(await badgeWrites(platform.deps, record, true))
    const { body } = await developer.call('GET', '/api/v1/dev/apps')
    expect(body.items.map(({ verified }: { verified: boolean }) => verified)).not.toContain(false)
  })

  it('is not_found where there is none', async () => {
    expect(codeOf(await decide('vrf_01kae5m1v8w6c3x9q2r7t4y0zn', 'approve'))).toBe('not_found')
  })
})
