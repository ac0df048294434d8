import { beforeEach, describe, expect, it } from 'vitest'
import { AgentRequestEntity } from '#shared/marketplace/requests/entity.ts'
import { updateRank } from '#shared/marketplace/requests/vote.ts'
import { newDeveloper } from '#testkit/developers.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
beforeEach(() => platform.clock.advance(60_000))

const ADMIN = { 'x-admin-key': 'local-admin-key' }
const person = async () => member(platform.deps, (await workspace(platform.deps)).id, 'member')
const ask = (token: string, title = 'Counts the stock') =>
  platform.call('POST', '/console/agent-requests', { token, body: { title, description: 'Every evening.' } })
const vote = (token: string, id: string) => platform.call('POST', `/console/agent-requests/${id}/vote`, { token })
const unvote = (token: string, id: string) => platform.call('DELETE', `/console/agent-requests/${id}/vote`, { token })
const board = async (token: string, query = '') =>
  (await platform.call('GET', `/console/agent-requests${query}`, { token })).body
const ids = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id)
const stored = (id: string) => platform.deps.table.get(AgentRequestEntity, { id })

describe('requesting an agent', () => {
  it('publishes the request to every workspace’s board and to developers, without the requester', async () => {
    const [asker, other] = [await person(), await person()]
    const { status, body } = await ask(asker.token)
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^arq_/),
        title: 'Counts the stock',
        description: 'Every evening.',
        votes: 0,
        voted: false,
        mine: true,
        status: 'open',
        status_reason: null,
        claimed_at: null,
        created_at: expect.any(String),
      },
    ])
    expect((await board(other.token)).items[0]).toEqual({ ...body, mine: false })
    const developer = await newDeveloper(platform)
    const seen = await developer.call('GET', '/api/v1/dev/requests')
    expect(seen.body.items[0].id).toBe(body.id)
    expect(seen.text).not.toContain(asker.user.id)
    expect(seen.text).not.toContain(asker.session.workspace_id)
    expect(ids(await board(asker.token, '?mine=true'))).toEqual([body.id])
    expect(ids(await board(other.token, '?mine=true'))).toEqual([])
  })

  it('enforces the text limits', async () => {
    const { token } = await person()
    for (const body of [
      { title: '' },
      { title: 'x'.repeat(121) },
      { title: 'x', description: 'x'.repeat(4_001) },
      {},
    ]) {
      const { status } = await platform.call('POST', '/console/agent-requests', { token, body })
      expect(status).toBe(422)
    }
  })
})

describe('votes', () => {
  it('are counted exactly when fifty people vote concurrently and repeatedly', async () => {
    const { body: request } = await ask((await person()).token)
    const people = await Promise.all(Array.from({ length: 50 }, person))
    const answers = await Promise.all(people.flatMap(({ token }) => [vote(token, request.id), vote(token, request.id)]))
    expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([])
    expect((await stored(request.id))?.votes).toBe(50)
    const developer = await newDeveloper(platform)
    const { body } = await developer.call('GET', '/api/v1/dev/requests')
    expect(body.items.find(({ id }: { id: string }) => id === request.id).votes).toBe(50)
    expect(ids(await board(people[0]?.token ?? '', '?sort=votes&limit=1'))).toEqual([request.id])

    platform.clock.advance(60_000)
    await Promise.all(
      people.slice(0, 20).flatMap(({ token }) => [unvote(token, request.id), unvote(token, request.id)]),
    )
    expect((await stored(request.id))?.votes).toBe(30)
    const again = (await board(people[0]?.token ?? '')).items.find(({ id }: { id: string }) => id === request.id)
    expect(again).toMatchObject({ votes: 30, voted: false })
  })

  it('sort the board across all statuses, in pages, with each request once', async () => {
    const { token } = await person()
    const developer = await newDeveloper(platform)
    const wishes: string[] = []
    for (let n = 0; n < 7; n++) {
      platform.clock.advance(2_000)
      const { body } = await ask(token)
      wishes.push(body.id)
      for (let votes = 0; votes < 60 + n; votes += 30) await vote((await person()).token, body.id)
      if (n % 2 === 0) await developer.call('POST', `/api/v1/dev/requests/${body.id}/claim`)
    }
    for (const sort of ['votes', 'newest']) {
      const seen: { id: string; votes: number }[] = []
      let cursor = ''
      do {
        platform.clock.advance(1_000)
        const page = await board(token, `?sort=${sort}&limit=2${cursor && `&cursor=${cursor}`}`)
        seen.push(...page.items)
        cursor = page.next_cursor ?? ''
      } while (cursor)
      const listed = seen.map(({ id }) => id)
      expect(new Set(listed).size).toBe(listed.length)
      expect(listed).toEqual(expect.arrayContaining(wishes))
      const by = sort === 'votes' ? seen.map(({ votes }) => votes) : listed
      expect(by).toEqual([...by].sort((a, b) => (a < b ? 1 : -1)))
    }
  })

  it('are placed on the board by the sweeper when the request crashed before that', async () => {
    const { token } = await person()
    const { body: request } = await ask(token)
    for (let n = 0; n < 60; n++) await vote((await person()).token, request.id)
    const { body: low } = await ask(token)
    await platform.deps.table.transact([
      AgentRequestEntity.update({ id: low.id }, { set: { due_at: platform.clock.now() + 60_000, votes: 99 } }),
    ])
    const first = async () => ids(await board(token, '?sort=votes&limit=1'))[0]
    expect(await first()).toBe(request.id)
    platform.clock.advance(61_000)
    await platform.sweep()
    expect(await first()).toBe(low.id)
    expect((await stored(low.id))?.due_at).toBeUndefined()
    await updateRank(platform.deps, low.id)
  })

  it('are refused for a closed or unknown request', async () => {
    const { token } = await person()
    const { body: request } = await ask(token)
    const set = (status: string) =>
      platform.call('POST', `/admin/agent-requests/${request.id}/status`, { headers: ADMIN, body: { status } })
    await set('declined')
    expect((await vote(token, request.id)).body.error.code).toBe('conflict')
    expect((await unvote(token, request.id)).status).toBe(204)
    await set('open')
    expect((await vote(token, request.id)).status).toBe(200)
  })
})
