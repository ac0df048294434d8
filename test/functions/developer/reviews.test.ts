import { beforeEach, describe, expect, it } from 'vitest'
import { AppInstallationEntity } from '#shared/access/installations/entity.ts'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { ReviewEntity, ReviewTotalsEntity } from '#shared/marketplace/reviews/entity.ts'
import { adopt, newDeveloper, type TestDeveloper } from '#testkit/developers.ts'
import { type Installed, installed, member, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

let developer: TestDeveloper
let app: Installed
const platform = usingPlatform()
beforeEach(async () => {
  platform.clock.advance(60_000)
  developer = await newDeveloper(platform)
  app = await installed(platform.deps)
  await adopt(platform, developer, app.app)
})

/** Installs the app in another workspace and returns its owner's token. */
const customer = async () => {
  const { id } = await workspace(platform.deps)
  const owner = await member(platform.deps, id, 'owner')
  await platform.deps.table.transact([
    AppInstallationEntity.create({ workspace_id: id, app_id: app.app.id, installation_id: app.installation.id }),
  ])
  return { id, token: owner.token }
}

const write = (token: string, rating: unknown, text?: string) =>
  platform.call('PUT', `/console/apps/${app.app.id}/review`, {
    token,
    body: { rating, ...(text !== undefined && { text }) },
  })
const remove = (token: string) => platform.call('DELETE', `/console/apps/${app.app.id}/review`, { token })
const totals = async () => {
  const { body } = await developer.call('GET', `/api/v1/dev/apps/${app.app.id}/reviews`)
  return body
}
const reply = (id: string, text: string, by = developer) => by.call('POST', `/api/v1/dev/reviews/${id}/reply`, { text })

describe('a review', () => {
  it('exists once per workspace: a second one replaces it and updates the aggregates', async () => {
    const first = await write(app.person.token, 2, 'Slow.')
    expect([first.status, first.body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^rev_/),
        app_id: app.app.id,
        rating: 2,
        text: 'Slow.',
        workspace_name: expect.stringMatching(/^Workspace/),
        status: 'visible',
        reply: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ])
    const second = await write(app.person.token, 5)
    expect([second.body.id, second.body.rating, second.body.text]).toEqual([first.body.id, 5, null])
    expect(await totals()).toMatchObject({
      average: 5,
      distribution: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 1 },
      count: 1,
      mine: null,
      items: [{ id: first.body.id, rating: 5 }],
    })
    const seen = await platform.call('GET', `/console/apps/${app.app.id}/reviews`, { token: app.person.token })
    expect(seen.body).toMatchObject({ average: 5, count: 1, mine: { id: first.body.id } })
  })

  it('is refused for a workspace without the app, for a sandbox, and for invalid ratings', async () => {
    const { id } = await workspace(platform.deps)
    const stranger = await member(platform.deps, id, 'owner')
    const refused = await write(stranger.token, 1)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
    const sandbox = await customer()
    await platform.deps.table.transact([WorkspaceEntity.update({ id: sandbox.id }, { set: { is_sandbox: true } })])
    expect((await write(sandbox.token, 5)).status).toBe(403)
    for (const rating of [0, 6, 4.5, '4', null]) expect((await write(app.person.token, rating)).status).toBe(422)
    expect((await totals()).count).toBe(0)
  })

  it('is not_found for an app that customers can’t find', async () => {
    await platform.deps.table.transact([AppEntity.update({ id: app.app.id }, { set: { status: 'draft' } })])
    const { id } = await workspace(platform.deps)
    const { token } = await member(platform.deps, id, 'owner')
    expect((await write(token, 1)).status).toBe(404)
    expect((await platform.call('GET', `/console/apps/${app.app.id}/reviews`, { token })).status).toBe(404)
  })

  it('leaves list and aggregates when it is deleted, and deleting again is not_found', async () => {
    await write(app.person.token, 3)
    expect((await remove(app.person.token)).status).toBe(204)
    expect(await totals()).toMatchObject({ average: null, count: 0, items: [] })
    expect((await developer.call('GET', '/api/v1/dev/reviews')).body.items).toEqual([])
    expect((await remove(app.person.token)).status).toBe(404)
    expect((await write(app.person.token, 4)).status).toBe(200)
    expect((await totals()).count).toBe(1)
  })
})

describe('the aggregates', () => {
  it('are exact when fifty workspaces write, edit and delete concurrently', async () => {
    const customers = await Promise.all(Array.from({ length: 17 }, customer))
    await Promise.all(
      customers.flatMap(({ token }, i) => [
        write(token, (i % 5) + 1),
        write(token, 5),
        write(token, ((i + 2) % 5) + 1),
      ]),
    )
    await Promise.all(customers.slice(0, 2).flatMap(({ token }) => [remove(token), remove(token)]))
    const { items, distribution, count, average } = await totals()
    const expected = [1, 2, 3, 4, 5].map((n) => items.filter(({ rating }: { rating: number }) => rating === n).length)
    expect(items).toHaveLength(15)
    expect([Object.values(distribution), count]).toEqual([expected, 15])
    const sum = items.reduce((all: number, { rating }: { rating: number }) => all + rating, 0)
    expect(average).toBe(Math.round((100 * sum) / 15) / 100)
  })

  it('omit a hidden review, and editing doesn’t bring it back', async () => {
    const other = await customer()
    await write(other.token, 3)
    const { body } = await write(app.person.token, 5)
    const { table } = platform.deps
    const review = (await table.get(ReviewEntity, { id: body.id })) ?? expect.fail('no review')
    await table.transact([
      ReviewEntity.replace({ ...review, hidden: true }),
      ReviewTotalsEntity.update({ app_id: app.app.id }, { add: { n5: -1 } }),
    ])
    expect((await write(app.person.token, 1)).body.status).toBe('hidden')
    expect(await totals()).toMatchObject({ count: 1, average: 3, items: [{ rating: 3 }] })
    expect((await reply(body.id, 'Why?')).status).toBe(409)
    expect((await remove(app.person.token)).status).toBe(204)
    expect(await totals()).toMatchObject({ count: 1, average: 3, distribution: { 1: 0, 5: 0 } })
  })
})

describe('a reply', () => {
  it('appears with the review, notifies the workspace, and changes nothing else', async () => {
    const { body: review } = await write(app.person.token, 2, 'Slow.')
    const unanswered = async () =>
      (await developer.call('GET', '/api/v1/dev/reviews?unanswered=true')).body.items.map(
        ({ id }: { id: string }) => id,
      )
    expect(await unanswered()).toEqual([review.id])
    const answer = await reply(review.id, 'It is faster now.')
    expect([answer.status, answer.body]).toEqual([
      200,
      { ...review, reply: { text: 'It is faster now.', created_at: expect.any(String) } },
    ])
    expect(await unanswered()).toEqual([])
    expect((await developer.call('GET', '/api/v1/dev/reviews')).body.items).toHaveLength(1)
    const { items } = await platform.deps.table.query(
      NotificationEntity,
      { workspace_id: app.workspaceId },
      { limit: 10 },
    )
    expect(items).toMatchObject([{ kind: 'review.replied', body: 'It is faster now.', app_id: app.app.id }])
    expect((await write(app.person.token, 4)).body.reply.text, 'an edit keeps it').toBe('It is faster now.')
    expect((await reply(review.id, 'Thank you.')).body.reply.text).toBe('Thank you.')
  })

  it('and a concurrent edit both take effect', async () => {
    const { body: review } = await write(app.person.token, 2)
    await Promise.all([reply(review.id, 'Sorry.'), write(app.person.token, 5, 'Better.')])
    expect(await platform.deps.table.get(ReviewEntity, { id: review.id })).toMatchObject({
      rating: 5,
      text: 'Better.',
      reply: { text: 'Sorry.' },
    })
  })
})
