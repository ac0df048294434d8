import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { installed } from '#testkit/fixtures.ts'
import { killing, type Moment } from '#testkit/killing.ts'
import { succeeded } from '#testkit/platform.ts'
import { succeeds } from '#testkit/receiver.ts'
import { deathsAt } from '#testkit/sampling.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
let workers: ReturnType<typeof killing>
beforeAll(() => {
  workers = killing(platform)
})

/** Lets the sweeper work every half minute. Of the sweep that dies, later ones do the rest. */
const live = async (minutes: number) => {
  for (let passed = 0; passed < minutes * 2; passed++) {
    platform.clock.advance(30 * SECOND)
    await workers.sweep()
    await workers.run(true)
  }
}

describe('each occurrence makes one run, with a worker killed', () => {
  it.each<Moment>(['before', 'after'])('%s each of its calls, at a time', async (moment) => {
    agent.answer(succeeds({}))
    for (const n of deathsAt(60, 6)) {
      const app = await installed(platform.deps, { endpoint: agent.url })
      const token = app.token
      const body = { name: 'News', start: { input: {} }, when: { every: 'PT1H' } }
      const { id } = await succeeded(platform.call('POST', '/api/v1/schedules', { token, body }))
      platform.clock.advance(HOUR - MINUTE)
      workers.arm(n, moment)
      await live(8)
      const died = workers.disarm()
      const { items: runs } = await succeeded(platform.call('GET', '/api/v1/runs', { token }))
      expect(runs, `with a death ${moment} call ${n}`).toHaveLength(1)
      expect(runs[0].trigger).toBe('schedule')
      const { items } = await succeeded(platform.call('GET', `/api/v1/schedules/${id}/occurrences`, { token }))
      expect(items).toMatchObject([{ status: 'started', run: { id: runs[0].id } }])
      await succeeded(platform.call('POST', `/api/v1/schedules/${id}/pause`, { token }))
      if (!died) return
    }
  })

  it.each<Moment>(['before', 'after'])('%s each of its calls, at an event', async (moment) => {
    agent.answer(succeeds({}))
    for (const n of deathsAt(60, 6)) {
      const app = await installed(platform.deps, { endpoint: agent.url })
      const token = app.token
      const body = { name: 'Orders', start: { input: {} }, when: { event: 'custom.order.*' } }
      const { id } = await succeeded(platform.call('POST', '/api/v1/schedules', { token, body }))
      const args = { type: 'order.paid', data: {} }
      await succeeded(platform.call('POST', '/api/v1/tools/emit_event/invoke', { token, body: { arguments: args } }))
      workers.arm(n, moment)
      await workers.run(true)
      await live(8)
      const died = workers.disarm()
      const { items: runs } = await succeeded(platform.call('GET', '/api/v1/runs', { token }))
      expect(runs, `with a death ${moment} call ${n}`).toMatchObject([{ trigger: 'event' }])
      const { items } = await succeeded(platform.call('GET', `/api/v1/schedules/${id}/occurrences`, { token }))
      expect(items).toMatchObject([{ status: 'started', run: { id: runs[0].id } }])
      if (!died) return
    }
  })
})
