import { describe, expect, it, vi } from 'vitest'
import { DeliveryEntity } from '#shared/delivery/webhooks/entity.ts'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { newEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/outbox.ts'
import { SweepMarkEntity } from '#shared/foundation/overdue/entity.ts'
import { type OverdueHandler, sweepOverdue, sweepShard } from '#shared/foundation/overdue/sweep.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'
import { handlingEvents } from './support.ts'

const platform = usingPlatform()

const MINUTE = 60_000

describe('the overdue sweep', () => {
  it('puts events whose message was lost on the bus again, and not before their time', async () => {
    const app = await subscriber(platform)
    await app.emit('lost')
    platform.outbox.splice(0)
    platform.clock.advance(OVERDUE_GRACE - 1)
    await platform.sweep()
    expect(platform.messages).toEqual([])
    platform.clock.advance(1)
    await platform.sweep()
    await platform.drain()
    expect(await app.feed()).toHaveLength(1)
    await platform.sweep()
    expect(platform.messages).toEqual([])
  })

  it('repeats reads that the table throttles, and fails where the throttling lasts', async () => {
    const app = await subscriber(platform)
    await app.emit('refused')
    platform.outbox.splice(0)
    platform.clock.advance(MINUTE)
    let refusals = 0
    const due = vi.spyOn(platform.deps.table, 'due')
    const refuse = () => {
      refusals++
      return Promise.reject(Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' }))
    }
    due.mockImplementation(refuse)
    await expect(platform.sweep()).rejects.toThrow('Rate exceeded')
    expect(refusals).toBeGreaterThan(3)
    due.mockReset().mockImplementationOnce(refuse).mockImplementationOnce(refuse)
    await platform.sweep()
    due.mockRestore()
    await platform.drain()
    expect(await app.feed()).toHaveLength(1)
  })

  it('retries unhandled work with growing delays', async () => {
    const app = await subscriber(platform)
    const id = await app.emit('stays')
    platform.outbox.splice(0)
    let puts = 0
    for (let minute = 0; minute < 24 * 60; minute++) {
      platform.clock.advance(MINUTE)
      await platform.sweep()
      puts += platform.messages.splice(0).length
    }
    expect(puts).toBeGreaterThan(24)
    expect(puts).toBeLessThan(40)
    await platform.deps.table.transact([OutboxEntity.update({ id }, { set: { due_at: undefined } })])
  })

  it('isn’t stopped or delayed by records that fail', async () => {
    const app = await subscriber(platform)
    for (let i = 0; i < 50; i++) await app.emit('many', { i })
    const bad = new Set(
      platform.outbox
        .splice(0)
        .slice(0, 20)
        .map(({ id }) => id),
    )
    const put = platform.deps.bus.put
    platform.deps.bus.put = async (events) => {
      if (events.some(({ id }) => bad.has(id))) throw new Error('poison')
      return put(events)
    }
    platform.clock.advance(2 * MINUTE)
    await platform.sweep()
    platform.deps.bus.put = put
    await platform.drain()
    expect(await app.feed()).toHaveLength(30)
    const mark = await platform.deps.table.get(SweepMarkEntity, { name: 'overdue' })
    expect(mark).toEqual({
      name: 'overdue',
      at: expect.any(Number),
      found: 50,
      failed: 20,
      oldest_ms: expect.any(Number),
    })
    expect(mark?.oldest_ms).toBeGreaterThanOrEqual(MINUTE)
    const metrics = platform.logs.map((line) => JSON.parse(line)).findLast(({ message }) => message === 'overdue sweep')
    expect(metrics).toMatchObject({ OverdueFound: 50, OverdueFailed: 20 })
    platform.clock.advance(6 * MINUTE)
    await platform.sweep()
    await platform.drain()
    expect(await app.feed()).toHaveLength(50)
  })

  it('fails an attempt that kills one worker after another', async () => {
    await using receiver = await startReceiver()
    const app = await subscriber(platform)
    const webhook = await app.subscribe(receiver.url)
    await app.emit('deadly')
    const send = platform.deps.http.send
    platform.deps.http.send = async () => {
      throw new Error('the worker died')
    }
    const lose = async () => {
      const due = platform.messages.filter(({ dueAt }) => dueAt <= platform.clock.now())
      for (const message of due) {
        platform.messages.splice(platform.messages.indexOf(message), 1)
        await platform.deliver(message)
      }
    }
    await platform.deps.bus.put(platform.outbox.splice(0))
    await lose()
    for (let minute = 0; minute < 70; minute++) {
      platform.clock.advance(MINUTE)
      await lose()
      await platform.sweep()
      await lose()
    }
    platform.deps.http.send = send
    const [delivery] = await app.deliveries(webhook.id)
    expect(delivery.attempts[0]).toMatchObject({ n: 1, error: expect.stringContaining('could not finish') })
  })

  it('clears records that aren’t due any more', async () => {
    const app = await subscriber(platform)
    const webhook = await app.subscribe('https://hooks.example.com/')
    await app.emit('a')
    await platform.drain()
    const [delivery] = await app.deliveries(webhook.id)
    const key = { webhook_id: webhook.id, id: delivery.id }
    await platform.deps.table.transact([
      DeliveryEntity.update(key, { set: { status: 'succeeded', due_at: platform.clock.now() } }),
    ])
    await platform.sweep()
    expect((await platform.deps.table.get(DeliveryEntity, key))?.due_at).toBeUndefined()
  })
})

describe('more overdue work than one sweep can handle', () => {
  const handled: string[] = []
  const HANDLERS = [handlingEvents(handled)]
  const work = () => createWorkerWork(platform.deps)
  const overdue = () => platform.messages.filter(({ queue }) => queue === 'overdue').map(({ body }) => body)

  /** Leaves events overdue, all in one shard or spread over both. */
  const leave = async (count: number) => {
    handled.length = 0
    platform.messages.length = 0
    const { table, clock } = platform.deps
    const event = { type: 'sandbox.triggered', workspace_id: 'ws_backlog', data: {} }
    const writes = Array.from({ length: count }, () => OutboxEntity.create(newEvent(clock, event)))
    for (let i = 0; i < count; i += 50) await table.transact(writes.slice(i, i + 50))
    platform.outbox.length = 0
    platform.clock.advance(MINUTE)
  }

  it('is handed to a worker for each shard, which completes it, each record once', async () => {
    await leave(700)
    await sweepOverdue(work(), HANDLERS)
    expect(handled).toEqual([])
    expect(overdue().sort()).toEqual([{ shard: 0 }, { shard: 1 }])
    await Promise.all([0, 1].map((shard) => sweepShard(work(), HANDLERS, shard)))
    expect([handled.length, new Set(handled).size]).toEqual([700, 700])
    expect(await platform.deps.table.due(platform.clock.now(), 10)).toEqual([])
  })

  it('isn’t shared with other workers if a sweep can finish it', async () => {
    await leave(50)
    await sweepOverdue(work(), HANDLERS)
    expect([handled.length, overdue()]).toEqual([50, []])
  })

  it('is handled page by page while no message can be sent', async () => {
    await leave(150)
    const broken = work()
    broken.queues = { ...broken.queues, send: () => Promise.reject(new Error('SQS')) }
    await sweepOverdue(broken, HANDLERS)
    expect([handled.length, overdue()]).toEqual([100, []])
    await sweepOverdue(broken, HANDLERS)
    expect(new Set(handled).size).toBe(150)
  })

  it('has one worker for each shard, and another a minute after that one died', async () => {
    await leave(150)
    const { table } = platform.deps
    let release = () => {}
    const slow = new Promise<void>((resolve) => (release = resolve))
    const waiting: OverdueHandler[] = [{ entity: OutboxEntity, handle: () => slow }]
    const first = sweepShard(work(), waiting, 0)
    await vi.waitFor(async () =>
      expect((await table.get(SweepMarkEntity, { name: 'overdue#0' }))?.at).toBe(platform.clock.now()),
    )
    await sweepShard(work(), HANDLERS, 0)
    expect(handled).toEqual([])
    platform.clock.advance(MINUTE + 1)
    await sweepShard(work(), HANDLERS, 0)
    expect(handled.length).toBeGreaterThan(0)
    release()
    await first
    await sweepShard(work(), HANDLERS, 1)
  })
})
