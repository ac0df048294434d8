import { describe, expect, it } from 'vitest'
import { FeedEntryEntity } from '#shared/delivery/feed/entity.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'

const platform = usingPlatform()

const DAY = 86_400_000

const withEvents = async (count: number) => {
  const app = await subscriber(platform, { scopes: ['runs:read'] })
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    platform.clock.advance(1)
    ids.push(await app.emit(i % 2 ? 'odd' : 'even', { i }))
    await platform.drain()
  }
  return { app, ids }
}

describe('GET /api/v1/events', () => {
  it('returns the list envelope, oldest first, for any token', async () => {
    const { app, ids } = await withEvents(3)
    const { status, body } = await app.call('GET', '/events')
    expect(status).toBe(200)
    expect(body).toEqual({
      items: ids.map((id, i) => ({
        id,
        type: i % 2 ? 'custom.odd' : 'custom.even',
        created_at: expect.stringMatching(/\+00:00$/),
        workspace_id: app.workspaceId,
        data: { i },
      })),
      next_cursor: null,
      has_more: false,
    })
  })

  it('continues after `since`, and is empty when there are no newer events', async () => {
    const { app, ids } = await withEvents(3)
    const after = await app.call('GET', `/events?since=${ids[0]}`)
    expect(after.body.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(1))
    const none = await app.call('GET', `/events?since=${ids[2]}`)
    expect(none.body).toEqual({ items: [], next_cursor: null, has_more: false })
  })

  it('pages by cursor, with and without since and types', async () => {
    const { app, ids } = await withEvents(7)
    const pages = async (query: string) => {
      const got: string[] = []
      let cursor: string | null = null
      do {
        const { body } = await app.call('GET', `/events?limit=2${query}${cursor ? `&cursor=${cursor}` : ''}`)
        expect(body.items.length).toBeLessThanOrEqual(2)
        expect(body.has_more).toBe(body.next_cursor !== null)
        got.push(...body.items.map(({ id }: { id: string }) => id))
        cursor = body.next_cursor
      } while (cursor)
      return got
    }
    expect(await pages('')).toEqual(ids)
    expect(await pages(`&since=${ids[1]}`)).toEqual(ids.slice(2))
    expect(await pages('&types=custom.odd')).toEqual([ids[1], ids[3], ids[5]])
    expect(await pages('&types=custom.odd,custom.even')).toEqual(ids)
    expect(await pages('&types=run.*')).toEqual([])
  })

  it.each(['evt_01kae5m1v8w6c3x9q2r7t4y0zn', 'nonsense', '', 'x'.repeat(200)])(
    'answers an unknown since with 400: %j',
    async (since) => {
      const { app } = await withEvents(1)
      const { status, body } = await app.call('GET', `/events?since=${since}`)
      expect([status, body.error.code]).toEqual([400, 'bad_request'])
      expect(body.error.message).toContain('since')
    },
  )

  it('treats another installation’s event as an unknown since', async () => {
    const { ids } = await withEvents(1)
    const { app } = await withEvents(1)
    expect((await app.call('GET', `/events?since=${ids[0]}`)).status).toBe(400)
  })

  it('accepts a cursor for its installation and its types only', async () => {
    const { app } = await withEvents(3)
    const { app: other } = await withEvents(3)
    const { next_cursor } = (await app.call('GET', '/events?limit=1')).body
    expect((await app.call('GET', `/events?limit=1&cursor=${next_cursor}`)).status).toBe(200)
    expect((await other.call('GET', `/events?limit=1&cursor=${next_cursor}`)).status).toBe(400)
    expect((await app.call('GET', `/events?limit=1&types=*&cursor=${next_cursor}`)).status).toBe(400)
    expect((await app.call('GET', `/events?limit=1&cursor=${next_cursor}x`)).status).toBe(400)
  })

  it.each([
    'limit=0',
    'limit=101',
    'limit=1.5',
    'types=nothing.here',
    'types=',
    'types=delivery.requested',
    'before=1',
  ])('answers %s with validation_error', async (query) => {
    const { app } = await withEvents(0)
    const { status, body } = await app.call('GET', `/events?${query}`)
    expect([status, body.error.code]).toEqual([422, 'validation_error'])
  })

  it('covers 30 days: older events are omitted, and expired as since', async () => {
    const { app, ids } = await withEvents(5)
    platform.clock.advance(20 * DAY)
    const newer = [await app.emit('newer'), await app.emit('newest')]
    await platform.drain()
    platform.clock.advance(10 * DAY)
    const { body } = await app.call('GET', '/events')
    expect(body.items.map(({ id }: { id: string }) => id).sort()).toEqual(newer.sort())
    expect((await app.call('GET', `/events?since=${ids[4]}`)).status).toBe(400)
    expect((await app.call('GET', `/events?since=${body.items[0].id}`)).body.items).toHaveLength(1)
  })

  it('returns the remaining entries when the oldest ones are missing', async () => {
    const { app, ids } = await withEvents(4)
    const { id: installation_id } = app.installation
    await platform.deps.table.transact([1, 2].map((n) => FeedEntryEntity.delete({ installation_id, n })))
    const { body } = await app.call('GET', '/events')
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2))
  })

  it('keeps a page under the maximum response size of a function, and continues on the next page', async () => {
    const { app } = await withEvents(0)
    const text = 'x'.repeat(60_000)
    for (let i = 0; i < 80; i++) await app.emit('large', { text, i })
    await platform.drain()
    const first = await app.call('GET', '/events?limit=100')
    expect(Buffer.byteLength(first.text)).toBeLessThan(5_500_000)
    expect(first.body.has_more).toBe(true)
    const second = await app.call('GET', `/events?limit=100&cursor=${first.body.next_cursor}`)
    expect(first.body.items.length + second.body.items.length).toBe(80)
  })
})
