import { describe, expect, it } from 'vitest'
import { MemberEntity } from '#shared/identity/people/entity.ts'
import { ReviewEntity } from '#shared/marketplace/reviews/entity.ts'
import { contents, difference } from '#testkit/contents.ts'
import { installed, member } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()

const reviewed = async () => {
  const { app, workspaceId } = await installed(platform.deps)
  const at = `/console/apps/${app.id}/review`
  const [author, colleague, admin] = [
    await member(platform.deps, workspaceId, 'member'),
    await member(platform.deps, workspaceId, 'member'),
    await member(platform.deps, workspaceId, 'admin'),
  ]
  const write = ({ token }: { token: string }, rating: number) => platform.call('PUT', at, { token, body: { rating } })
  const remove = ({ token }: { token: string }) => platform.call('DELETE', at, { token })
  const mine = async ({ token }: { token: string }) =>
    (await platform.call('GET', `/console/apps/${app.id}/reviews`, { token })).body
  const first = await write(author, 1)
  expect(first.status, first.text).toBe(200)
  return { id: first.body.id as string, workspaceId, author, colleague, admin, write, remove, mine }
}

describe('a workspace’s review', () => {
  it('can’t be changed or removed by a colleague of its author', async () => {
    const { author, colleague, write, remove, mine } = await reviewed()
    const before = await contents(platform)
    for (const answer of [await write(colleague, 5), await remove(colleague)]) {
      expect([answer.status, answer.body.error.code]).toEqual([403, 'admin_required'])
      expect(answer.body.error.fix).toMatch(/, or an admin of the workspace\.$/)
    }
    expect(difference(before, await contents(platform))).toEqual({})
    expect(await mine(colleague)).toMatchObject({ mine: { rating: 1 }, mine_editable: false })
    expect(await mine(author)).toMatchObject({ mine: { rating: 1 }, mine_editable: true })
  })

  it('can be changed and removed by its author and by an admin, and written again by anyone', async () => {
    const { author, colleague, admin, write, remove, mine } = await reviewed()
    expect((await write(author, 2)).body.rating).toBe(2)
    expect((await mine(admin)).mine_editable).toBe(true)
    expect((await write(admin, 3)).body.rating).toBe(3)
    expect((await write(author, 4)).body.error.code, 'the text is the admin’s now').toBe('admin_required')
    expect((await remove(admin)).status).toBe(204)
    expect(await mine(colleague)).toMatchObject({ mine: null, mine_editable: false })
    expect((await write(colleague, 5)).status).toBe(200)
    expect((await remove(colleague)).status).toBe(204)
  })

  it('can’t be changed by an admin who lost the role while their request was on its way', async () => {
    const { id, workspaceId, admin, write } = await reviewed()
    const { table } = platform.deps
    const transact = table.transact.bind(table)
    table.transact = async (writes) => {
      table.transact = transact
      const at = { workspace_id: workspaceId, user_id: admin.user.id }
      await transact([MemberEntity.update(at, { set: { role: 'member' } })])
      return transact(writes)
    }
    expect((await write(admin, 5)).body.error.code).toBe('admin_required')
    expect((await table.get(ReviewEntity, { id }))?.rating).toBe(1)
  })
})
