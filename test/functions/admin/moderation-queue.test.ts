import { beforeEach, describe, expect, it } from 'vitest'
import { AuditEntity, auditOf } from '#shared/staff/audit/entity.ts'
import { publish } from '#testkit/developers.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { asAdmin, newModerator, submitApp } from './moderation-support.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const admin = (...args: Parameters<ReturnType<typeof asAdmin>>) => {
  platform.clock.advance(1)
  return asAdmin(platform)(...args)
}
const codeOf = ({ status, body }: Answer) => (status < 300 ? status : body.error.code)
const queue = async (query = '') => (await admin('GET', `/admin/review?limit=100${query}`)).body
const waits = async (id: string) => (await queue()).items.filter((item: { app: { id: string } }) => item.app.id === id)

describe('the moderation queue', () => {
  it('lists submitted apps oldest first, with checklist, developer and an exact total', async () => {
    const before = (await queue()).total
    const first = await submitApp(platform, { requested_scopes: ['runs:read', 'files:write'] })
    platform.clock.advance(60_000)
    const second = await submitApp(platform)
    const { items, total, limit, offset } = await queue()
    expect([total, limit, offset]).toEqual([before + 2, 100, 0])
    const ids = items.map((item: { app: { id: string } }) => item.app.id)
    expect(ids.indexOf(first.app.id)).toBeLessThan(ids.indexOf(second.app.id))
    const [item] = await waits(first.app.id)
    expect(item).toMatchObject({
      kind: 'app',
      app: { id: first.app.id, status: 'in_review' },
      version: { id: first.version, version: '1.0.0' },
      developer: { id: first.developer.id, verified: false, verification: 'none' },
      claimed_by: null,
      dangerous_scopes: ['files:write'],
      checks: null,
    })
    expect(item.checklist.every(({ done }: { done: boolean }) => done)).toBe(true)
    const page = await admin('GET', `/admin/review?limit=1&offset=${total - 1}`)
    expect([page.body.items[0].app.id, page.body.total]).toEqual([second.app.id, total])
  })

  it('drops an app when it is decided on, and lists it again when it is resubmitted', async () => {
    const { app, developer } = await submitApp(platform)
    const { total } = await queue()
    await admin('POST', `/admin/apps/${app.id}/reject`, { reason: 'No.' })
    expect([await waits(app.id), (await queue()).total]).toEqual([[], total - 1])
    await developer.call('POST', `/api/v1/dev/apps/${app.id}/submit`)
    expect([(await waits(app.id)).length, (await queue()).total]).toEqual([1, total])
    await admin('POST', `/admin/apps/${app.id}/approve`)
    expect([await waits(app.id), (await queue()).total]).toEqual([[], total - 1])
  })

  it('drops an app while it is suspended', async () => {
    const { app } = await submitApp(platform)
    const { total } = await queue()
    await admin('POST', `/admin/apps/${app.id}/suspend`, { reason: 'Abuse.' })
    expect([await waits(app.id), (await queue()).total]).toEqual([[], total - 1])
    await admin('POST', `/admin/apps/${app.id}/unsuspend`)
    expect([(await waits(app.id)).length, (await queue()).total]).toEqual([1, total])
  })

  it('keeps its total exact when twenty moderators decide concurrently', async () => {
    const { app } = await submitApp(platform)
    const { total } = await queue()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        admin('POST', `/admin/apps/${app.id}/${i % 2 ? 'approve' : 'reject'}`, i % 2 ? undefined : { reason: 'No.' }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await queue()).total).toBe(total - 1)
  })

  it('lists the new versions of an approved app', async () => {
    const { app, developer } = await submitApp(platform)
    await admin('POST', `/admin/apps/${app.id}/approve`)
    const { total } = await queue('&kind=version')
    const { body } = await publish(developer, app, { version: '1.1.0' })
    expect(await waits(app.id)).toMatchObject([{ kind: 'version', version: { id: body.id, version: '1.1.0' } }])
    expect((await queue('&kind=version')).total).toBe(total + 1)
  })
})

describe('a claim', () => {
  it('belongs to one moderator even among twenty concurrent claims, and the others learn who has it', async () => {
    const { app } = await submitApp(platform)
    const moderators = await Promise.all(Array.from({ length: 20 }, (_, i) => newModerator(platform, `Mo ${i}`)))
    const answers = await Promise.all(
      moderators.map(({ headers }) => admin('POST', `/admin/apps/${app.id}/claim`, {}, headers)),
    )
    const got = answers.filter(({ status }) => status === 200)
    expect(got).toHaveLength(1)
    const { id, name } = got[0]?.body.claimed_by ?? {}
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body.error).toMatchObject({ code: 'conflict', details: { claimed_by: { id, name } } })
    expect((await waits(app.id))[0].claimed_by).toEqual({ id, name })
  })

  it('reserves the decision for its moderator and ends with it', async () => {
    const { app } = await submitApp(platform)
    const [mine, other] = [await newModerator(platform, 'Ann'), await newModerator(platform, 'Bob')]
    await admin('POST', `/admin/apps/${app.id}/claim`, undefined, mine.headers)
    const refused = await admin('POST', `/admin/apps/${app.id}/approve`, undefined, other.headers)
    expect([codeOf(refused), refused.body.error.details.claimed_by.name]).toEqual(['conflict', 'Ann'])
    expect(codeOf(await admin('POST', `/admin/apps/${app.id}/approve`, undefined, mine.headers))).toBe(200)
    expect((await admin('GET', `/admin/apps/${app.id}`)).body.claim).toBeNull()
  })

  it('expires after two hours, and can be released by its moderator or a superadmin only', async () => {
    const { app } = await submitApp(platform)
    const path = `/admin/apps/${app.id}/claim`
    const [ann, bob] = [await newModerator(platform, 'Ann'), await newModerator(platform, 'Bob')]
    await admin('POST', path, {}, ann.headers)
    expect(codeOf(await admin('POST', path, { release: true }, bob.headers))).toBe('conflict')
    platform.clock.advance(2 * 3_600_000)
    expect((await admin('POST', path, {}, bob.headers)).body.claimed_by.name).toBe('Bob')
    expect((await admin('POST', path, { release: true })).body.claimed_by).toBeNull()
    expect((await admin('POST', path, {}, ann.headers)).body.claimed_by.name).toBe('Ann')
    expect((await admin('POST', path, { release: true }, ann.headers)).body.claimed_by).toBeNull()
    const { items } = await platform.deps.table.listed(AuditEntity, auditOf(app.id), { limit: 4 })
    expect(items.map(({ action }) => action)).toEqual([
      'app.claim_released',
      'app.claimed',
      'app.claim_released',
      'app.claimed',
    ])
    expect(items[0]?.details).toMatchObject({ before: { claimed_by: ann.id }, after: { claimed_by: null } })
  })

  it('is accepted only for pending items', async () => {
    const { app } = await submitApp(platform)
    await admin('POST', `/admin/apps/${app.id}/approve`)
    expect(codeOf(await admin('POST', `/admin/apps/${app.id}/claim`, {}))).toBe('conflict')
  })
})
