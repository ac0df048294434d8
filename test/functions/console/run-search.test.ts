import { beforeEach, describe, expect, it } from 'vitest'
import { idTime, newId, stampOf } from '#shared/kernel/ids.ts'
import { RunEntity, WorkspaceRunEntity } from '#shared/work/runs/entity.ts'
import { installed, member } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const scene = async () => {
  const app = await installed(platform.deps)
  const person = await member(platform.deps, app.workspaceId, 'member')
  const { table } = platform.deps
  /** Starts a run and ends it, so that any number fits. */
  const ran = async (body: object, fields: object = {}): Promise<string> => {
    platform.clock.advance(1_000)
    const { status, body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body })
    expect(status).toBe(201)
    await platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: app.token })
    await table.transact([RunEntity.update({ installation_id: app.installation.id, id: run.id }, { set: fields })])
    return run.id
  }
  const list = async (query: Record<string, string>) => {
    platform.clock.advance(1_000)
    const path = `/console/runs?${new URLSearchParams(query)}`
    const { status, body } = await platform.call('GET', path, { token: person.token })
    expect(status).toBe(200)
    return { ids: body.items.map(({ id }: { id: string }) => id), next: body.next_cursor, items: body.items }
  }
  return { app, person, ran, list }
}

describe('GET /console/runs with a search', () => {
  it('finds runs by all words in the record, regardless of case', async () => {
    const { ran, list } = await scene()
    const mug = await ran({ input: { question: 'How many red “mugs”\nare on the shelf?' } })
    const boat = await ran({ input: { note: 'A boat' } }, { error_message: 'The Shelf is gone' })
    expect((await list({ q: 'SHELF' })).ids).toEqual([boat, mug])
    expect((await list({ q: 'shelf red' })).ids).toEqual([mug])
    expect((await list({ q: '“mugs” are' })).ids).toEqual([mug])
    expect((await list({ q: mug })).ids).toEqual([mug])
    expect((await list({ q: 'plane' })).ids).toEqual([])
  })

  it('combines trigger, person, error and time', async () => {
    const { app, person, ran, list } = await scene()
    const actor = { id: person.user.id, name: person.user.name }
    const first = await ran({ trigger: 'nightly' }, { error_code: 'no_paper' })
    const second = await ran({ trigger: 'nightly' }, { actor })
    const third = await ran({ trigger: 'api' }, { actor, error_code: 'no_paper' })
    expect((await list({ trigger: 'nightly' })).ids).toEqual([second, first])
    const { ids, items } = await list({ person: person.user.id })
    expect(ids).toEqual([third, second])
    expect(items[0].started_by).toEqual(actor)
    expect((await list({ error: 'no_paper', trigger: 'nightly' })).ids).toEqual([first])
    const [newest, middle] = (await list({})).items
    expect((await list({ since: newest.created_at })).ids).toEqual([third])
    expect((await list({ since: middle.created_at, until: newest.created_at })).ids).toEqual([second])
    const own = { installation_id: app.installation.id, status: 'cancelled' }
    expect((await list({ ...own, until: newest.created_at })).ids).toEqual([second, first])
    expect((await list({ ...own, since: newest.created_at, error: 'no_paper' })).ids).toEqual([third])
  })

  it.each<Record<string, string>>([{}, { status: 'cancelled' }])(
    'leads through all matches page by page, each once: %o',
    async (narrowed) => {
      const { ran, list } = await scene()
      const all: string[] = []
      for (let i = 0; i < 12; i++) {
        const id = await ran({ trigger: i % 3 === 0 ? 'rare' : 'api' })
        if (i % 3 === 0) all.unshift(id)
      }
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await list({ ...narrowed, trigger: 'rare', limit: '2', ...(cursor && { cursor }) })
        seen.push(...page.ids)
        cursor = page.next ?? undefined
      } while (cursor)
      expect(seen).toEqual(all)
    },
  )

  it('reads a bounded number of runs for a page, and continues from there', async () => {
    const { app, list } = await scene()
    const { workspaceId, installation } = app
    const { table } = platform.deps
    const base = await platform.call('POST', '/api/v1/runs', { token: app.token, body: { trigger: 'rare' } })
    const run = await table.get(RunEntity, { installation_id: installation.id, id: base.body.id })
    for (let i = 0; i < 13; i++) {
      platform.clock.advance(1_000)
      const now = platform.clock.now()
      const ids = Array.from({ length: 50 }, () => newId('run', now))
      await table.transact(
        ids.flatMap((id) => [
          RunEntity.create({ ...(run as NonNullable<typeof run>), ...stampOf(id), trigger: 'api' }),
          WorkspaceRunEntity.create({
            workspace_id: workspaceId,
            run_id: id,
            installation_id: installation.id,
            created_at: idTime(id),
          }),
        ]),
      )
    }
    const first = await list({ trigger: 'rare' })
    expect(first.ids).toEqual([])
    expect(first.next).not.toBeNull()
    expect((await list({ trigger: 'rare', cursor: first.next })).ids).toEqual([base.body.id])
  })

  it('finds nothing of somebody else’s chat', async () => {
    const { app, person, ran, list } = await scene()
    const mine = await ran({ input: { secret: 'garden' } }, { private_to: person.user.id })
    const others = await ran({ input: { secret: 'garden' } }, { private_to: app.person.user.id })
    expect((await list({ q: 'garden' })).ids).toEqual([mine])
    expect((await list({ q: 'garden', status: 'cancelled' })).ids).not.toContain(others)
  })
})

describe('/console/views', () => {
  it('keeps each person’s views to themselves', async () => {
    const { app, person } = await scene()
    const views = [{ screen: 'runs', name: 'Failed', query: 'status=failed' }]
    const { token } = person
    expect(await platform.call('PUT', '/console/views', { token, body: { views } })).toMatchObject({ status: 200 })
    expect((await platform.call('GET', '/console/views', { token })).body).toEqual({ views })
    expect((await platform.call('GET', '/console/views', { token: app.person.token })).body).toEqual({ views: [] })
    const twice = await platform.call('PUT', '/console/views', { token, body: { views: [...views, ...views] } })
    expect(twice.body.error.code).toBe('validation_error')
  })
})
