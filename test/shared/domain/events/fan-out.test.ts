import { expect, it } from 'vitest'
import { OutboxEntity } from '#shared/entities/events.ts'
import { iso } from '#shared/kernel/clock.ts'
import { entityOf, everything } from '#test/functions/workspace-removal/support.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { subscriber } from '#test/support/webhooks.ts'

const platform = usingPlatform()

it('what only wakes the platform’s own workers is gone once it was fanned out; what is read later stays', async () => {
  await using receiver = await startReceiver()
  const app = await subscriber(platform)
  const { id } = await app.subscribe(receiver.url)
  await app.emit('a')
  await platform.drain()
  const [delivery] = (await app.call('GET', `/webhooks/${id}/deliveries`)).body.items
  await app.call('POST', `/webhooks/${id}/deliveries/${delivery.id}/redeliver`)
  await app.call('POST', `/webhooks/${id}/recover`, { since: iso(platform.clock.now()) })
  const kept = async () => (await everything(platform)).filter((item) => entityOf(item) === OutboxEntity.name)
  const types = async () => new Set((await kept()).map(({ type }) => type))
  expect(await types()).toEqual(new Set(['custom.a', 'delivery.requested', 'delivery.recovery']))
  await platform.drain()
  // A page of a recovery is told once, which its record sees to.
  expect(await types()).toEqual(new Set(['custom.a', 'delivery.recovery']))
  expect((await kept()).filter(({ due_at }) => due_at !== undefined)).toEqual([])
  expect(receiver.requests).toHaveLength(2)
})
