import { describe, expect, it, vi } from 'vitest'
import { DeliveryEntity } from '#shared/delivery/webhooks/entity.ts'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { OVERDUE_GRACE } from '#shared/foundation/outbox/outbox.ts'
import { SweepMarkEntity } from '#shared/foundation/overdue/entity.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'

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
    for (let i = 0; i < 250; i++) await app.emit('many', { i })
    const bad = new Set(
      platform.outbox
        .splice(0)
        .slice(0, 120)
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
    expect(await app.feed()).toHaveLength(130)
    const mark = await platform.deps.table.get(SweepMarkEntity, { name: 'overdue' })
    expect(mark).toEqual({
      name: 'overdue',
      at: expect.any(Number),
      found: 250,
      failed: 120,
      oldest_ms: expect.any(Number),
    })
    expect(mark?.oldest_ms).toBeGreaterThanOrEqual(MINUTE)
    const metrics = platform.logs.map((line) => JSON.parse(line)).findLast(({ message }) => message === 'overdue sweep')
    expect(metrics).toMatchObject({ OverdueFound: 250, OverdueFailed: 120 })
    platform.clock.advance(6 * MINUTE)
    await platform.sweep()
    await platform.drain()
    expect(await app.feed()).toHaveLength(250)
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
