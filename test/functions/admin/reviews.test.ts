import { beforeEach, describe, expect, it } from 'vitest'
import { AppInstallationEntity } from '#shared/access/installations/entity.ts'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { AuditEntity, auditOf } from '#shared/staff/audit/entity.ts'
import { adopt, newDeveloper, type TestDeveloper } from '#testkit/developers.ts'
import { type Installed, installed, member, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { asAdmin } from './moderation-support.ts'

const platform = usingPlatform()
let developer: TestDeveloper
let app: Installed
beforeEach(async () => {
  platform.clock.advance(60_000)
  developer = await newDeveloper(platform)
  app = await installed(platform.deps)
  await adopt(platform, developer, app.app)
})

const admin = (...args: Parameters<ReturnType<typeof asAdmin>>) => asAdmin(platform)(...args)
const customer = async () => {
  const { id } = await workspace(platform.deps)
  const owner = await member(platform.deps, id, 'owner')
  await platform.deps.table.transact([
    AppInstallationEntity.create({ workspace_id: id, app_id: app.app.id, installation_id: app.installation.id }),
  ])
  return { id, token: owner.token }
}
const write = (token: string, rating: number) =>
  platform.call('PUT', `/console/apps/${app.app.id}/review`, { token, body: { rating, text: 'Words.' } })
const remove = (token: string) => platform.call('DELETE', `/console/apps/${app.app.id}/review`, { token })
const mine = async (token: string) =>
  (await platform.call('GET', `/console/apps/${app.app.id}/reviews`, { token })).body.mine
const hide = (id: string, hidden = true) => admin('POST', `/admin/reviews/${id}/hide`, { hidden, reason: 'Insults.' })
const shown = async () => (await developer.call('GET', `/api/v1/dev/apps/${app.app.id}/reviews`)).body
const totalOf = async (query: string) => (await admin('GET', `/admin/reviews?${query}`)).body.total
const unanswered = async () => (await developer.call('GET', '/api/v1/dev/reviews?unanswered=true')).body.items

describe('hiding a review', () => {
  it('removes it from the list and the aggregates, and unhiding restores it', async () => {
    const [one, two] = [await customer(), await customer()]
    const { body: bad } = await write(one.token, 1)
    await write(two.token, 5)
    expect([(await shown()).average, (await unanswered()).length]).toEqual([3, 2])
    const { body } = await hide(bad.id)
    expect(body).toMatchObject({ hidden: true, status: 'hidden', hidden_reason: 'Insults.', workspace_id: one.id })
    expect(await shown()).toMatchObject({ average: 5, count: 1, items: [{ rating: 5 }] })
    expect((await unanswered()).map(({ rating }: { rating: number }) => rating)).toEqual([5])
    const { items } = await platform.deps.table.query(NotificationEntity, { workspace_id: one.id }, { limit: 5 })
    expect(items).toMatchObject([{ kind: 'review.moderated', body: 'Insults.' }])
    const audit = await platform.deps.table.listed(AuditEntity, auditOf(bad.id), { limit: 1 })
    expect(audit.items[0]).toMatchObject({
      action: 'review.hidden',
      details: { before: { hidden: false }, after: { hidden: true }, app_id: app.app.id },
    })
    await hide(bad.id, false)
    expect([(await shown()).average, (await shown()).items.length, (await unanswered()).length]).toEqual([3, 2, 2])
  })

  it('is idempotent', async () => {
    const { token, id } = await customer()
    const { body } = await write(token, 2)
    for (const _ of [1, 2]) expect((await hide(body.id)).status).toBe(200)
    expect((await shown()).count).toBe(0)
    const { items } = await platform.deps.table.query(NotificationEntity, { workspace_id: id }, { limit: 5 })
    expect(items).toHaveLength(1)
  })

  it('survives an edit, and a review deleted while hidden leaves no entry and no total behind', async () => {
    const { token } = await customer()
    const { body } = await write(token, 2)
    await hide(body.id)
    expect((await write(token, 5)).body.status).toBe('hidden')
    expect((await shown()).count).toBe(0)
    const of = `app=${app.app.id}`
    expect([await totalOf(`${of}&hidden=true&rating=5`), await totalOf(`${of}&rating=2`)]).toEqual([1, 0])
    await remove(token)
    expect([await totalOf(of), (await shown()).count]).toEqual([0, 0])
  })

  it('survives a deletion: the next review starts hidden, for the same reason, until a moderator shows it', async () => {
    const { token } = await customer()
    const { body: bad } = await write(token, 1)
    await hide(bad.id)
    for (const rating of [5, 4]) {
      expect((await remove(token)).status).toBe(204)
      expect((await remove(token)).status).toBe(404)
      expect(await mine(token)).toBeNull()
      // Two concurrent reviews become one.
      const [one, two] = await Promise.all([write(token, rating), write(token, rating)])
      expect([one.status, two.status, one.body.status, one.body.id]).toEqual([200, 200, 'hidden', two.body.id])
      expect(one.body.id).not.toBe(bad.id)
      expect((await shown()).count).toBe(0)
      expect(await unanswered()).toEqual([])
      const { items, total } = (await admin('GET', `/admin/reviews?app=${app.app.id}&hidden=true`)).body
      expect([total, items]).toMatchObject([1, [{ id: one.body.id, rating, hidden_reason: 'Insults.' }]])
    }
    await hide((await mine(token)).id, false)
    expect(await shown()).toMatchObject({ count: 1, average: 4 })
    await remove(token)
    expect((await write(token, 3)).body.status).toBe('visible')
    expect(await shown()).toMatchObject({ count: 1, average: 3 })
    expect(await totalOf(`app=${app.app.id}`)).toBe(1)
  })

  it('leaves the reviews of other workspaces alone', async () => {
    const [one, two] = [await customer(), await customer()]
    await hide((await write(one.token, 1)).body.id)
    await remove(one.token)
    expect((await write(two.token, 2)).body.status).toBe('visible')
  })

  it('keeps aggregates and totals exact while reviews are edited concurrently', async () => {
    const customers = await Promise.all(Array.from({ length: 8 }, customer))
    const reviews = await Promise.all(customers.map(({ token }) => write(token, 3)))
    const global = await totalOf('')
    await Promise.all(
      reviews.flatMap(({ body }, i) => [
        hide(body.id, true),
        write(customers[i]?.token ?? '', (i % 5) + 1),
        ...(i % 2 ? [hide(body.id, false)] : []),
      ]),
    )
    const of = `app=${app.app.id}`
    const { body: all } = await admin('GET', `/admin/reviews?${of}&limit=100`)
    expect([all.total, all.items.length, await totalOf('')]).toEqual([8, 8, global])
    type Row = { hidden: boolean; rating: number }
    const visible = all.items.filter(({ hidden }: Row) => !hidden)
    const now = await shown()
    expect([now.count, now.items.length]).toEqual([visible.length, visible.length])
    for (const rating of [1, 2, 3, 4, 5]) {
      for (const hidden of [true, false]) {
        const list = (await admin('GET', `/admin/reviews?${of}&rating=${rating}&hidden=${hidden}`)).body
        const expected = all.items.filter((row: Row) => row.rating === rating && row.hidden === hidden).length
        expect([list.total, list.items.length], `${rating} ${hidden}`).toEqual([expected, expected])
      }
    }
  })
})

describe('the list of all reviews', () => {
  it('is newest first over all apps, filtered by rating and by hidden status', async () => {
    const before = await Promise.all(['', 'hidden=true', 'rating=4', 'rating=4&hidden=false'].map(totalOf))
    const [one, two] = [await customer(), await customer()]
    const { body: first } = await write(one.token, 4)
    platform.clock.advance(1_000)
    const { body: second } = await write(two.token, 4)
    await hide(first.id)
    const after = await Promise.all(['', 'hidden=true', 'rating=4', 'rating=4&hidden=false'].map(totalOf))
    expect(after.map((n, i) => n - before[i])).toEqual([2, 1, 2, 1])
    const ids = async (query: string) =>
      (await admin('GET', `/admin/reviews?${query}`)).body.items.map(({ id }: { id: string }) => id)
    expect((await ids('limit=2')).slice(0, 2)).toEqual([second.id, first.id])
    expect((await ids('hidden=true'))[0]).toBe(first.id)
    expect((await ids('rating=4&hidden=false'))[0]).toBe(second.id)
    expect(await ids(`app=${app.app.id}&limit=1&offset=1`)).toEqual([first.id])
  })
})
