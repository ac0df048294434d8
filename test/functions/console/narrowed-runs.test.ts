import { beforeEach, describe, expect, it } from 'vitest'
import { installed, member } from '#test/support/fixtures.ts'
import { usingPlatform } from '#test/support/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const start = async ({ token }: { token: string }): Promise<string> => {
  platform.clock.advance(1_000)
  const { status, body } = await platform.call('POST', '/api/v1/runs', { token, body: { input: {} } })
  expect(status).toBe(201)
  return body.id
}

/** Two agents of one workspace with a queued run each, and one that the first agent's owner cancelled. */
const scene = async () => {
  const one = await installed(platform.deps)
  const other = await installed(platform.deps, { workspaceId: one.installation.workspace_id })
  const person = await member(platform.deps, one.installation.workspace_id, 'member')
  const [first, second, cancelled] = [await start(one), await start(other), await start(one)]
  await platform.call('POST', `/api/v1/runs/${cancelled}/cancel`, { token: one.token })
  const list = async (query: string) => {
    const { status, body } = await platform.call('GET', `/console/runs${query}`, { token: person.token })
    expect(status).toBe(200)
    return { ids: body.items.map(({ id }: { id: string }) => id), next: body.next_cursor }
  }
  return { one, other, first, second, cancelled, list }
}

describe('GET /console/runs, narrowed', () => {
  it('lists the runs of one status of every agent, newest first', async () => {
    const { first, second, cancelled, list } = await scene()
    expect((await list('?status=queued')).ids).toEqual([second, first])
    expect((await list('?status=cancelled')).ids).toEqual([cancelled])
    expect((await list('?status=awaiting_approval')).ids).toEqual([])
  })

  it('lists the runs of one agent, whatever their status', async () => {
    const { one, other, first, second, cancelled, list } = await scene()
    expect((await list(`?installation_id=${one.installation.id}`)).ids).toEqual([cancelled, first])
    expect((await list(`?installation_id=${other.installation.id}&status=queued`)).ids).toEqual([second])
  })

  it('goes on where a page ended', async () => {
    const { first, second, list } = await scene()
    const page = await list('?status=queued&limit=1')
    expect(page.ids).toEqual([second])
    expect((await list(`?status=queued&limit=1&cursor=${page.next}`)).ids).toEqual([first])
  })

  it('finds nothing under another workspace’s installation', async () => {
    const { list } = await scene()
    const foreign = await installed(platform.deps)
    await start(foreign)
    expect((await list(`?installation_id=${foreign.installation.id}`)).ids).toEqual([])
  })
})
