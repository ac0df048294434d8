import { expect, it } from 'vitest'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { iso } from '#shared/kernel/clock.ts'
import { entityOf, scanTable } from '#test/functions/workers/workspace-removal-support.ts'
import { startReceiver } from '#testkit/receiver.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { subscriber } from '#testkit/webhooks.ts'

const platform = usingPlatform()

it('an event that only wakes the platform’s own workers is deleted after its fan-out; one that is read later stays', async () => {
  await using receiver = await startReceiver()
  const app = await subscriber(platform)
  const { id } = await app.subscribe(receiver.url)
  await app.emit('a')
  await platform.drain()
  const [delivery] = (await app.call('GET', `/webhooks/${id}/deliveries`)).body.items
  await app.call('POST', `/webhooks/${id}/deliveries/${delivery.id}/redeliver`)
  await app.call('POST', `/webhooks/${id}/recover`, { since: iso(platform.clock.now()) })
  const kept = async () => (await scanTable(platform)).filter((item) => entityOf(item) === OutboxEntity.name)
  const types = async () => new Set((await kept()).map(({ type }) => type))
  expect(await types()).toEqual(new Set(['custom.a', 'delivery.requested', 'delivery.recovery']))
  await platform.drain()
  // Each page of a recovery is requested once, which its record ensures.
  expect(await types()).toEqual(new Set(['custom.a', 'delivery.recovery']))
  expect((await kept()).filter(({ due_at }) => due_at !== undefined)).toEqual([])
  expect(receiver.requests).toHaveLength(2)
})
