import { beforeEach, describe, expect, it, vi } from 'vitest'
import { HOUR, iso, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { callbackToken, installed, member } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { json, startReceiver, succeeds } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { consoleOf } from './notifications-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => {
  platform.clock.advance(MINUTE)
  agent.answer(succeeds({}))
})

const ACCEPTED = { kind: 'answer', status: 202 } as const

const setUp = async () => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  return { app, ...consoleOf(platform, app.person.token) }
}

type Scene = Awaited<ReturnType<typeof setUp>>

const create = ({ app, call }: Scene, event: object, fields: object = {}) =>
  succeeded(
    call('POST', '/schedules', {
      installation_id: app.installation.id,
      name: 'Orders',
      start: { input: { question: 'Is it in stock?' } },
      when: event,
      ...fields,
    }),
  )

const emit = async (token: string, type: string, data: object, run_id?: string) => {
  const { result } = await succeeded(
    platform.call('POST', '/api/v1/tools/emit_event/invoke', { token, body: { arguments: { type, data }, run_id } }),
  )
  return result.event_id as string
}

/** Lets everything happen that follows. */
const settle = async (ms = SECOND) => {
  platform.clock.advance(ms)
  await platform.drain()
  await platform.sweep()
  await platform.drain()
}

const runsOf = async ({ read }: Scene, trigger = 'event') =>
  (await read('/runs')).items.filter((run: { trigger: string }) => run.trigger === trigger)

const historyOf = async ({ read }: Scene, id: string) => (await read(`/schedules/${id}/occurrences`)).items

describe('an event starts a schedule', () => {
  it('once, whose run gets the event and acts for the creator', async () => {
    const scene = await setUp()
    const schedule = await create(scene, { event: 'custom.order.paid', match: { 'order.kind': 'gift' } })
    expect(schedule).toMatchObject({
      status: 'active',
      next_at: null,
      next_times: [],
      when: { event: 'custom.order.paid', match: { 'order.kind': 'gift' } },
    })
    const { token } = scene.app
    await emit(token, 'order.paid', { order: { kind: 'sample' } })
    await emit(token, 'order.sent', { order: { kind: 'gift' } })
    const id = await emit(token, 'order.paid', { order: { kind: 'gift' } })
    await settle()
    await settle(2 * HOUR)
    const runs = await runsOf(scene)
    expect(runs).toHaveLength(1)
    expect(runs[0]).toMatchObject({
      status: 'succeeded',
      chain_depth: 0,
      input: {
        question: 'Is it in stock?',
        event: { id, type: 'custom.order.paid', data: { order: { kind: 'gift' } } },
      },
    })
    expect(runs[0].started_by.id).toBe(scene.app.person.user.id)
    expect(await historyOf(scene, schedule.id)).toMatchObject([
      { status: 'started', event: { id, type: 'custom.order.paid' }, run: { id: runs[0].id } },
    ])
  })

  it('of the installation alone: neither another agent’s in the workspace nor another workspace’s starts it', async () => {
    const scene = await setUp()
    const neighbour = await installed(platform.deps, { endpoint: agent.url, workspaceId: scene.app.workspaceId })
    const stranger = await installed(platform.deps, { endpoint: agent.url })
    await create(scene, { event: 'custom.order.paid' })
    for (const { token } of [neighbour, stranger]) await emit(token, 'order.paid', {})
    await settle()
    expect(await runsOf(scene)).toEqual([])
  })

  it('only while the agent may read it', async () => {
    const scene = await setUp()
    await create(scene, { event: 'run.failed' })
    const deny = (scopes: string[]) => scene.call('PUT', '/settings/bans', { denied_tools: [], denied_scopes: scopes })
    await succeeded(deny(['runs:read']))
    agent.answer(json({ status: 'failed', error: { code: 'broken', message: 'No.' } }))
    await succeeded(platform.call('POST', '/api/v1/runs', { token: scene.app.token, body: { input: {} } }))
    await settle()
    await succeeded(deny([]))
    expect(await runsOf(scene)).toEqual([])
  })

  it('not if it is paused, and again from its resumption on', async () => {
    const scene = await setUp()
    const { id } = await create(scene, { event: 'custom.order.*' })
    await succeeded(scene.call('POST', `/schedules/${id}/pause`))
    await emit(scene.app.token, 'order.paid', {})
    await settle()
    expect(await runsOf(scene)).toEqual([])
    await succeeded(scene.call('POST', `/schedules/${id}/resume`))
    await emit(scene.app.token, 'order.paid', {})
    await settle()
    expect(await runsOf(scene)).toHaveLength(1)
  })

  it('not from its end on', async () => {
    const scene = await setUp()
    const ends_at = iso(platform.clock.now() + HOUR)
    const { id } = await create(scene, { event: 'custom.order.paid' }, { ends_at })
    await settle(HOUR)
    await emit(scene.app.token, 'order.paid', {})
    await settle()
    expect(await runsOf(scene)).toEqual([])
    expect(await scene.read(`/schedules/${id}`)).toMatchObject({ status: 'ended' })
  })

  it('of several at once one after the other, if it queues, each with its event', async () => {
    const scene = await setUp()
    const { id } = await create(scene, { event: 'custom.order.paid' }, { overlap: 'queue' })
    agent.answer(ACCEPTED)
    const first = await emit(scene.app.token, 'order.paid', { n: 1 })
    await settle()
    const second = await emit(scene.app.token, 'order.paid', { n: 2 })
    await settle()
    const [run] = await runsOf(scene)
    expect(run.input.event.id).toBe(first)
    expect((await historyOf(scene, id))[0]).toMatchObject({ status: 'waiting', event: { id: second } })
    const token = await callbackToken(platform.deps, scene.app, run.id)
    await succeeded(
      platform.call('POST', `/api/v1/runs/${run.id}/complete`, { token, body: { status: 'succeeded', output: {} } }),
    )
    await settle(10 * MINUTE)
    const runs = await runsOf(scene)
    expect(runs.map(({ input }: { input: { event: { id: string } } }) => input.event.id)).toEqual([second, first])
  })
})

describe('a schedule that can’t be started', () => {
  it('delays no webhook of its event, and is started later', async () => {
    const scene = await setUp()
    await using receiver = await startReceiver()
    const { token } = scene.app
    await succeeded(
      platform.call('POST', '/api/v1/webhooks', { token, body: { url: receiver.url, events: ['custom.*'] } }),
    )
    const { id } = await create(scene, { event: 'custom.order.paid' })
    const { transact } = platform.deps.table
    const broken = vi.spyOn(platform.deps.table, 'transact').mockImplementation(function (
      this: never,
      writes,
      ...rest
    ) {
      if (writes.some(({ entity }) => entity.name === 'occurrence')) throw new Error('The store fails.')
      return transact.call(platform.deps.table, writes, ...rest)
    })
    await emit(token, 'order.paid', {})
    await platform.drain()
    expect(receiver.requests).toHaveLength(1)
    broken.mockRestore()
    await settle(10 * SECOND)
    expect(await historyOf(scene, id)).toMatchObject([{ status: 'started' }])
    expect(receiver.requests).toHaveLength(1)
  })
})

describe('a schedule doesn’t start itself', () => {
  it('by events of its runs, and starts by those of other runs, in their chain and a hop deeper', async () => {
    const scene = await setUp()
    await create(scene, { event: 'run.succeeded' }, { overlap: 'allow' })
    const { body: run } = await platform.call('POST', '/api/v1/runs', { token: scene.app.token, body: { input: {} } })
    for (let i = 0; i < 5; i++) await settle()
    const runs = await runsOf(scene)
    expect(runs).toMatchObject([
      { chain_depth: 1, parent_run_id: run.id, input: { event: { data: { run_id: run.id } } } },
    ])
  })

  it('by what its run emits with the callback token or its run_id, also through another schedule', async () => {
    const scene = await setUp()
    const one = await create(scene, { event: 'custom.order.paid' }, { overlap: 'allow' })
    const two = await create(scene, { event: 'custom.order.sent' }, { overlap: 'allow' })
    agent.answer(ACCEPTED)
    await emit(scene.app.token, 'order.paid', {})
    await settle()
    const [paid] = await runsOf(scene)
    await emit(await callbackToken(platform.deps, scene.app, paid.id), 'order.paid', {})
    await emit(scene.app.token, 'order.paid', {}, paid.id)
    await emit(scene.app.token, 'order.sent', {}, paid.id)
    await settle()
    const [sent, ...others] = await runsOf(scene)
    expect(others).toHaveLength(1)
    expect(sent).toMatchObject({ chain_depth: 1, input: { event: { type: 'custom.order.sent' } } })
    await emit(scene.app.token, 'order.paid', {}, sent.id)
    await emit(scene.app.token, 'order.sent', {}, sent.id)
    await settle()
    expect(await runsOf(scene)).toHaveLength(2)
    expect(await historyOf(scene, one.id)).toHaveLength(1)
    expect(await historyOf(scene, two.id)).toHaveLength(1)
  })

  it('beyond the depth of a chain, which is a refused start', async () => {
    const scene = await setUp()
    const names = ['one', 'two', 'three', 'four', 'five']
    const ids: string[] = []
    for (const name of names) ids.push((await create(scene, { event: `custom.${name}` }, { overlap: 'allow' })).id)
    agent.answer(ACCEPTED)
    await emit(scene.app.token, 'one', {})
    await settle()
    for (const name of names.slice(1)) {
      const [last] = await runsOf(scene)
      await emit(scene.app.token, name, {}, last.id)
      await settle()
    }
    expect((await runsOf(scene)).map(({ chain_depth }: { chain_depth: number }) => chain_depth)).toEqual([3, 2, 1, 0])
    expect(await historyOf(scene, ids[4] ?? '')).toMatchObject([{ status: 'refused', reason: 'chain_too_deep' }])
  })
})

describe('a schedule is tried', () => {
  it('with a recorded event of the installation, and with no other', async () => {
    const scene = await setUp()
    const { id } = await create(scene, { event: 'custom.order.sent' })
    const event_id = await emit(scene.app.token, 'order.paid', { n: 1 })
    const stranger = await installed(platform.deps, { endpoint: agent.url })
    const foreign = await emit(stranger.token, 'order.paid', {})
    const run = await succeeded(scene.call('POST', `/schedules/${id}/run`, { event_id }))
    expect(run).toMatchObject({ trigger: 'event', chain_depth: 0, input: { event: { id: event_id, data: { n: 1 } } } })
    expect(await historyOf(scene, id)).toMatchObject([{ status: 'started', event: { id: event_id } }])
    for (const other of [foreign, event_id.slice(0, -1), 'evt_']) {
      const { status, body } = await scene.call('POST', `/schedules/${id}/run`, { event_id: other })
      expect([status, Object.keys(body.error.details.fields)]).toEqual([422, ['event_id']])
    }
    const timed = await create(scene, { every: 'PT1H' })
    expect((await scene.call('POST', `/schedules/${timed.id}/run`, { event_id })).status).toBe(422)
    await settle()
  })
})

describe('events of private conversations', () => {
  it('start no schedule of somebody else, nor one whose runs others see', async () => {
    const scene = await setUp()
    const colleague = await member(platform.deps, scene.app.workspaceId, 'member')
    const theirs = consoleOf(platform, colleague.token)
    await create(scene, { event: 'message.created' })
    await create(scene, { event: 'run.*' })
    const { body: chat } = await theirs.call('POST', '/conversations', { installation_id: scene.app.installation.id })
    await succeeded(theirs.call('POST', `/conversations/${chat.id}/messages`, { text: 'My salary is wrong.' }))
    await settle()
    expect(await runsOf(scene)).toEqual([])
  })
})

describe('an event that can’t start a schedule is refused', () => {
  it.each(['*', 'schedule.*', 'schedule.skipped', 'pages.changed', 'nothing.here', 'webhook.test'])(
    '%s',
    async (event) => {
      const { app, call } = await setUp()
      const body = { installation_id: app.installation.id, name: 'A', start: { input: {} }, when: { event } }
      const { status, body: refused } = await call('POST', '/schedules', body)
      expect(status).toBe(422)
      expect(refused.error.details.fields['when.event']).toHaveLength(1)
    },
  )

  it('one that the agent may not read, with the scope that it lacks', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url, scopes: ['runs:read', 'runs:write'] })
    const { call } = consoleOf(platform, app.person.token)
    const body = { installation_id: app.installation.id, name: 'A', start: { input: {} }, when: { event: 'task.*' } }
    const { status, body: refused } = await call('POST', '/schedules', body)
    expect(status).toBe(403)
    expect(refused.error).toMatchObject({ code: 'insufficient_scope', details: { required_scope: 'tasks:read' } })
  })
})
