import { beforeEach, describe, expect, it } from 'vitest'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { installed, member } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const start = async ({ token }: { token: string }): Promise<string> => {
  platform.clock.advance(1_000)
  const { status, body } = await platform.call('POST', '/api/v1/runs', { token, body: { input: {} } })
  expect(status).toBe(201)
  return body.id
}

/** Creates two agents of one workspace with a queued run each, and cancels another run of the first. */
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

describe('GET /console/runs with filters', () => {
  it('lists the runs of one status across agents, newest first', async () => {
    const { first, second, cancelled, list } = await scene()
    expect((await list('?status=queued')).ids).toEqual([second, first])
    expect((await list('?status=cancelled')).ids).toEqual([cancelled])
    expect((await list('?status=awaiting_approval')).ids).toEqual([])
  })

  it('lists the runs of one agent in any status', async () => {
    const { one, other, first, second, cancelled, list } = await scene()
    expect((await list(`?installation_id=${one.installation.id}`)).ids).toEqual([cancelled, first])
    expect((await list(`?installation_id=${other.installation.id}&status=queued`)).ids).toEqual([second])
  })

  it('continues where a page ended', async () => {
    const { first, second, list } = await scene()
    const page = await list('?status=queued&limit=1')
    expect(page.ids).toEqual([second])
    expect((await list(`?status=queued&limit=1&cursor=${page.next}`)).ids).toEqual([first])
  })

  it('shows active runs that the counter names, which are in no list', async () => {
    const { one, first, second, cancelled, list } = await scene()
    const { id: owner } = one.installation
    const { items } = await platform.deps.table.listed(RunEntity, `${owner}#RUNS#active`, { limit: 10 })
    expect(items).toEqual([])
    expect((await list('?status=queued')).ids).toEqual([second, first])
    const all = await list(`?installation_id=${owner}`)
    expect(all.ids).toEqual([cancelled, first])
    const page = await list(`?installation_id=${owner}&limit=1`)
    expect((await list(`?installation_id=${owner}&limit=1&cursor=${page.next}`)).ids).toEqual([first])
  })
})

describe('POST /console/runs/{id}/cancel', () => {
  const cancel = (id: string, { token }: { token: string }) =>
    platform.call('POST', `/console/runs/${id}/cancel`, { token })

  it('ends an active run once, and the audit says who did it', async () => {
    const app = await installed(platform.deps)
    const id = await start(app)
    expect(await cancel(id, app.person)).toMatchObject({ status: 200, body: { id, status: 'cancelled' } })
    expect((await cancel(id, app.person)).body.error.code).toBe('run_already_finished')
    await platform.drain()
    const { body } = await platform.call('GET', '/console/audit', { token: app.person.token })
    const entries = body.items.filter(({ action }: { action: string }) => action === 'run.cancelled')
    expect(entries).toMatchObject([{ actor: { id: app.person.user.id }, subject: { type: 'run', id } }])
  })

  it('finds no run of somebody else’s chat', async () => {
    const app = await installed(platform.deps)
    const colleague = await member(platform.deps, app.installation.workspace_id, 'owner')
    const { token } = app.person
    const { body: chat } = await platform.call('POST', '/console/conversations', {
      token,
      body: { installation_id: app.installation.id },
    })
    await platform.call('POST', `/console/conversations/${chat.id}/messages`, { token, body: { text: 'Hello' } })
    const { body: runs } = await platform.call('GET', '/console/runs', { token })
    const { id } = runs.items[0]
    expect((await cancel(id, colleague)).status).toBe(404)
    expect((await cancel(id, app.person)).status).toBe(200)
  })
})
