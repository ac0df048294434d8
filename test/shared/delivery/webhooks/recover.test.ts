import { expect, it } from 'vitest'
import { recoverDeliveries } from '#shared/delivery/webhooks/recover.ts'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { createWorkerWork } from '#shared/http/worker.ts'
import { DAY, iso } from '#shared/kernel/clock.ts'
import { startPlatform } from '#testkit/platform.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'

const platform = usingPlatform({ WEBHOOK_RETRY_DELAYS_SECONDS: '10' })

/** Creates a subscription whose only delivery failed, and requests its recovery. */
const failed = async (url: string, since = platform.clock.now()) => {
  const app = await subscriber(platform)
  const { id } = await app.subscribe(url)
  await app.emit('a')
  await platform.drain()
  await app.call('POST', `/webhooks/${id}/recover`, { since: iso(since) })
  const requested = platform.outbox.splice(0).find(({ type }) => type === 'delivery.recovery')
  const event = await platform.deps.table.get(OutboxEntity, { id: requested?.id ?? '' })
  if (!event) throw new Error('no recovery was requested')
  return { app, id, recover: () => recoverDeliveries(createWorkerWork(platform.deps), event) }
}

it('a recovery that is processed twice sends each delivery once, also when it failed again in between', async () => {
  await using receiver = await startReceiver()
  receiver.answer({ kind: 'answer', status: 500 })
  const { recover } = await failed(receiver.url)
  expect(receiver.requests).toHaveLength(1)
  await recover()
  await platform.drain()
  expect(receiver.requests).toHaveLength(2)
  await recover()
  await platform.drain()
  expect(receiver.requests).toHaveLength(2)
})

it('two simultaneous recoveries send each delivery once', async () => {
  await using receiver = await startReceiver()
  receiver.next({ kind: 'answer', status: 500 })
  const { recover } = await failed(receiver.url)
  await Promise.all([recover(), recover(), recover()])
  await platform.drain()
  expect(receiver.requests).toHaveLength(2)
})

it('recovers an older delivery whose last attempt failed since then, and no test delivery', async () => {
  await using receiver = await startReceiver()
  receiver.answer({ kind: 'answer', status: 500 })
  const { app, id, recover } = await failed(receiver.url, platform.clock.now() + 100)
  await app.call('POST', `/webhooks/${id}/test`)
  const before = receiver.requests.length
  receiver.answer({ kind: 'answer' })
  await recover()
  await platform.drain()
  expect(receiver.requests.length - before).toBe(1)
})

it('recovers what was pending when the subscription was disabled, if requested since then', async () => {
  const waiting = await startPlatform({ WEBHOOK_RETRY_DELAYS_SECONDS: '10,600' })
  await using receiver = await startReceiver()
  try {
    receiver.answer({ kind: 'answer', status: 500 })
    const app = await subscriber(waiting)
    const { id } = await app.subscribe(receiver.url)
    for (let i = 0; i < 5; i++) await app.emit('a')
    await waiting.drain()
    waiting.clock.advance(9_000)
    await app.emit('late')
    await waiting.drain()
    waiting.clock.advance(1_000)
    await waiting.drain()
    const { items } = (await app.call('GET', '/webhooks')).body
    expect(items[0].status).toBe('disabled')
    const since = items[0].disabled_at
    waiting.clock.advance(60_000)
    await waiting.drain()
    await app.call('POST', `/webhooks/${id}/enable`)
    receiver.answer({ kind: 'answer' })
    await app.call('POST', `/webhooks/${id}/recover`, { since })
    await waiting.drain()
    const after = (await app.call('GET', `/webhooks/${id}/deliveries`)).body.items
    const late = after.filter((one: { event_type: string }) => one.event_type === 'custom.late')
    expect(late.map((one: { status: string }) => one.status)).toEqual(['succeeded'])
  } finally {
    await waiting.stop()
  }
})

it('recovers a delivery older than a whole retry schedule if it was redelivered since then and failed again', async () => {
  await using receiver = await startReceiver()
  receiver.answer({ kind: 'answer', status: 500 })
  const { app, id } = await failed(receiver.url)
  platform.clock.advance(2 * DAY)
  const since = iso(platform.clock.now())
  const [{ id: delivery }] = await app.deliveries(id)
  await app.call('POST', `/webhooks/${id}/deliveries/${delivery}/redeliver`)
  await platform.drain()
  platform.clock.advance(60_000)
  await platform.drain()
  expect((await app.deliveries(id))[0].status).toBe('failed')
  const before = receiver.requests.length
  receiver.answer({ kind: 'answer' })
  expect((await app.call('POST', `/webhooks/${id}/recover`, { since })).status).toBe(200)
  await platform.drain()
  expect(receiver.requests.length - before).toBe(1)
  expect((await app.deliveries(id))[0].status).toBe('succeeded')
})
