import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { worker } from '#functions/workers/live-pages.ts'
import { runSocketWorker } from '#shared/http/worker.ts'
import { UserEntity } from '#shared/identity/people/entity.ts'
import { OpenPagesEntity } from '#shared/insight/live/entity.ts'
import { HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import type { Sockets } from '#shared/kernel/ports/sockets.ts'
import { PRINCIPALS } from '#test/attacks/principals.ts'
import { notify } from '#test/functions/console/notifications-support.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { serveLive } from '#testkit/live.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const server = createServer((request, response) => {
  if (!live.manage(request, response)) response.writeHead(404).end()
})
let live: ReturnType<typeof serveLive>
let real: Sockets
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  live = serveLive(platform, server)
  real = platform.deps.sockets
})
afterAll(async () => {
  live.stop()
  await new Promise((resolve) => server.close(resolve))
})

let workspaceId: string
beforeEach(async () => {
  platform.deps.sockets = real
  platform.clock.advance(MINUTE)
  workspaceId = (await workspace(platform.deps)).id
})

const open = async (token: string) => {
  const socket = new WebSocket(live.url)
  // biome-ignore lint/suspicious/noExplicitAny: messages have several shapes
  const messages: any[] = []
  socket.on('message', (data) => messages.push(JSON.parse(data.toString())))
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(JSON.stringify({ type: 'hello', token }))
  await expect.poll(() => messages.length).toBe(1)
  const last = () => messages.findLast(({ type }) => type === 'updates')?.counts.notifications as number
  return { socket, messages, last }
}

const someone = async () => member(platform.deps, workspaceId, 'member')
const pagesOf = (user_id: string) => platform.deps.table.get(OpenPagesEntity, { workspace_id: workspaceId, user_id })

describe('pushes', () => {
  it('reach every page once for changes that wait together', async () => {
    const pages = [await open((await someone()).token), await open((await someone()).token)]
    const before = pages.map(({ last }) => last())
    for (let n = 0; n < 10; n++) await notify(platform, workspaceId)
    await platform.drain()
    for (const [i, { last, messages }] of pages.entries()) {
      await expect.poll(last).toBe((before[i] ?? 0) + 10)
      expect(messages.length).toBeLessThan(11)
    }
  })

  it('cost nothing where no page is open', async () => {
    await notify(platform, workspaceId)
    await platform.drain()
    expect(platform.messages.filter(({ queue }) => queue === 'live')).toEqual([])
    const page = await open((await someone()).token)
    page.socket.terminate()
    platform.clock.advance(3 * HOUR)
    let pushed = 0
    platform.deps.sockets = {
      ...real,
      send: (...given) => {
        pushed++
        return real.send(...given)
      },
    }
    await notify(platform, workspaceId)
    await platform.drain()
    expect(pushed).toBe(0)
  })

  it('forget a page that has ended, and still reach the others', async () => {
    const [ann, bob] = [await someone(), await someone()]
    const [gone, page] = [await open(ann.token), await open(bob.token)]
    gone.socket.terminate()
    // As if API Gateway hadn't told.
    const pages = await pagesOf(ann.user.id)
    await expect.poll(() => pagesOf(ann.user.id)).toBeUndefined()
    if (pages) await platform.deps.table.transact([OpenPagesEntity.replace(pages)])
    const before = page.last()
    await notify(platform, workspaceId)
    await platform.drain()
    await expect.poll(page.last).toBe(before + 1)
    expect(await pagesOf(ann.user.id)).toBeUndefined()
  })

  it('reach the others while one page takes nothing, which is closed and comes back', async () => {
    const [ann, bob] = [await someone(), await someone()]
    const [stuck, page] = [await open(ann.token), await open(bob.token)]
    const stuckId = (await pagesOf(ann.user.id))?.open[0]?.id
    platform.deps.sockets = {
      ...real,
      send: (id, message) => (id === stuckId ? Promise.reject(new Error('timeout')) : real.send(id, message)),
    }
    const before = page.last()
    await notify(platform, workspaceId)
    await platform.drain()
    await expect.poll(page.last).toBe(before + 1)
    await expect.poll(() => stuck.socket.readyState).toBe(WebSocket.CLOSED)
    platform.deps.sockets = real
    expect((await open(ann.token)).last()).toBe(before + 1)
  })

  it('stop at the moment at which a membership ends, before the page is closed', async () => {
    const [owner, bob] = [await member(platform.deps, workspaceId, 'owner'), await someone()]
    const page = await open(bob.token)
    const removed = await platform.call('DELETE', `/console/members/${bob.user.id}`, { token: owner.token })
    expect(removed.status, removed.text).toBe(204)
    await notify(platform, workspaceId)
    await platform.drain()
    await expect.poll(() => page.socket.readyState).toBe(WebSocket.CLOSED)
    expect(page.messages.map(({ type }) => type)).toEqual(['updates', 'end'])
  })

  it('never begin for a session that ends while its page connects', async () => {
    const bob = await someone()
    const { transact } = platform.deps.table
    // Signs out right before the connection is recorded, so that the sign-out finds no page to close.
    platform.deps.table.transact = async (writes) => {
      if (writes.some(({ entity }) => entity.name === OpenPagesEntity.name)) {
        platform.deps.table.transact = transact
        expect((await platform.call('DELETE', '/console/session', { token: bob.token })).status).toBe(204)
        await platform.drain()
      }
      return transact.call(platform.deps.table, writes)
    }
    const page = await open(bob.token)
    await expect.poll(() => page.socket.readyState).toBe(WebSocket.CLOSED)
    expect(page.messages).toEqual([{ type: 'end', reason: 'signed_out' }])
    // The record goes once the gateway has told the platform that the connection is over.
    await expect.poll(() => pagesOf(bob.user.id)).toBeUndefined()
  })

  it('stop when the session expires', async () => {
    const bob = await someone()
    platform.clock.advance(11 * HOUR)
    const page = await open(bob.token)
    platform.clock.advance(90 * MINUTE)
    await notify(platform, workspaceId)
    await platform.drain()
    await expect
      .poll(() => page.messages.map(({ type, reason = '' }) => type + reason))
      .toEqual(['updates', 'endsigned_out'])
  })

  it('reach the page whichever call of the pusher is its last, because the message comes again', async () => {
    const page = await open((await someone()).token)
    for (let fatal = 1; fatal <= 4; fatal++) {
      for (const moment of ['before', 'after']) {
        const before = page.last()
        let calls = 0
        let dead = false
        const mortal = <A extends unknown[], R>(act: (...args: A) => Promise<R>) => {
          return async (...args: A): Promise<R> => {
            if (dead) throw new Error('dead')
            if (++calls !== fatal) return act(...args)
            dead = true
            if (moment === 'after') await act(...args)
            throw new Error('dead')
          }
        }
        await notify(platform, workspaceId)
        const events = platform.outbox.splice(0)
        await platform.deps.bus.put(events)
        const due = platform.messages.splice(0)
        for (const message of due) await platform.deliver(message)
        const [push, ...more] = platform.messages.splice(0).filter(({ queue }) => queue === 'live')
        expect([push !== undefined, more.length]).toEqual([true, 0])
        const { table, sockets } = platform.deps
        const [getAll, query, transact] = [table.getAll, table.query, table.transact]
        Object.assign(table, {
          getAll: mortal(getAll.bind(table) as never),
          query: mortal(query.bind(table) as never),
          transact: mortal(transact.bind(table)),
        })
        platform.deps.sockets = { send: mortal(sockets.send), close: mortal(sockets.close) }
        await platform.deliver(push as NonNullable<typeof push>)
        Object.assign(table, { getAll, query, transact })
        platform.deps.sockets = sockets
        if (dead) await platform.deliver(push as NonNullable<typeof push>)
        await expect.poll(page.last).toBe(before + 1)
        expect(page.socket.readyState).toBe(WebSocket.OPEN)
      }
    }
  })
})

describe('a live connection', () => {
  const refused = async (token: string) => {
    const socket = new WebSocket(live.url)
    const messages: string[] = []
    socket.on('message', (data) => messages.push(data.toString()))
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send(JSON.stringify({ type: 'hello', token }))
    await expect.poll(() => socket.readyState).toBe(WebSocket.CLOSED)
    return messages.map((message) => JSON.parse(message))
  }

  it('is for people: valid tokens of integrations, runs, surfaces and staff get nothing', async () => {
    // The first of each kind is valid.
    const kinds = new Map(
      Object.values(PRINCIPALS)
        .reverse()
        .map((principal) => [principal.token, principal]),
    )
    for (const kind of ['access', 'callback', 'surface', 'admin'] as const) {
      const principal = kinds.get(kind) ?? expect.fail(kind)
      const { authorization = '' } = await principal.make(platform)
      expect(await refused(authorization.replace('Bearer ', ''))).toEqual([{ type: 'end', reason: 'signed_out' }])
    }
  })

  it('that is used for another workspace brings nothing of the first any more', async () => {
    const ann = await someone()
    const page = await open(ann.token)
    const other = await workspace(platform.deps)
    const eve = await member(platform.deps, other.id, 'member')
    page.socket.send(JSON.stringify({ type: 'hello', token: eve.token }))
    await expect.poll(() => page.messages.length).toBe(2)
    await notify(platform, workspaceId)
    await platform.drain()
    await notify(platform, other.id)
    await platform.drain()
    await expect.poll(() => page.messages.length).toBe(3)
    expect(page.messages[2].counts.notifications).toBe(page.messages[1].counts.notifications + 1)
    expect(await pagesOf(ann.user.id)).toBeUndefined()
  })

  it('ends for a blocked person, whose page gets no further change', async () => {
    const ann = await someone()
    const page = await open(ann.token)
    await platform.deps.table.transact([UserEntity.update({ id: ann.user.id }, { set: { status: 'blocked' } })])
    await notify(platform, workspaceId)
    await platform.drain()
    await expect.poll(() => page.socket.readyState).toBe(WebSocket.CLOSED)
    expect(page.messages.map(({ type }) => type)).toEqual(['updates', 'end'])
  })

  it('is refused to a person who opens one after the other, and to nobody else', async () => {
    const [ann, bob] = [await someone(), await someone()]
    const { burst } = LIMITS.liveStartRate
    for (let n = 0; n < burst; n++) (await open(ann.token)).socket.terminate()
    expect(await refused(ann.token)).toEqual([{ type: 'end', reason: 'too_many_connections' }])
    expect((await open(bob.token)).messages).toHaveLength(1)
    platform.clock.advance(MINUTE)
    expect((await open(ann.token)).messages[0].type).toBe('updates')
  })

  it('is refused to an address that connects too often, before it sends anything', async () => {
    const connect = (sourceIp: string) =>
      runSocketWorker(
        worker,
        { ...platform.deps, queues: platform.deps.queues, bus: platform.deps.bus },
        {
          requestContext: { connectionId: 'abc=', eventType: 'CONNECT', identity: { sourceIp } },
        },
      )
    platform.settings.addressRateLimits = true
    try {
      const { burst } = LIMITS.liveAddressRate
      for (let n = 0; n < burst; n++) expect((await connect('192.0.2.7')).statusCode).toBe(200)
      expect((await connect('192.0.2.7')).statusCode).toBe(429)
      expect((await connect('192.0.2.8')).statusCode).toBe(200)
    } finally {
      platform.settings.addressRateLimits = false
    }
  })
})
