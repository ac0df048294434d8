import { beforeEach, describe, expect, it } from 'vitest'
import { createWorkerWork } from '#shared/http/worker.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { type Installed, installed, member } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { succeeds } from '#testkit/receiver.ts'
import { usingModel, usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { configureModel, inlineAgent, readRun } from '../workers/inline-agents-support.ts'
import { consoleOf } from './notifications-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const model = usingModel()
beforeEach(() => {
  platform.clock.advance(MINUTE)
  configureModel(platform, model)
  model.always({ text: 'done' })
  answers({})
})

const answers = (body: Record<string, unknown>) => agent.answer(succeeds(body))

const setUp = async (limits: Record<string, number>, options: Record<string, unknown> = {}) => {
  const app = await installed(platform.deps, { endpoint: agent.url })
  const console_ = consoleOf(platform, app.person.token)
  const body = { subject: { type: 'workspace' }, period: 'day', limits, ...options }
  const budget = await succeeded(console_.call('POST', '/budgets', body))
  return { app, budget, ...console_ }
}

const start = (app: Pick<Installed, 'token'>) => platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })

/** Starts runs of ten agents of the workspace at once, five of each. */
const startFifty = async (app: Installed) => {
  const { startRun } = await import('#shared/work/runs/start.ts')
  const others = await Promise.all(
    Array.from({ length: 9 }, () => installed(platform.deps, { endpoint: agent.url, workspaceId: app.workspaceId })),
  )
  const outcomes = await Promise.allSettled(
    [app, ...others].flatMap(({ installation }) =>
      Array.from({ length: 5 }, () =>
        startRun(createWorkerWork(platform.deps), { installation, input: {}, trigger: 'api' }),
      ),
    ),
  )
  return {
    started: outcomes.filter(({ status }) => status === 'fulfilled').length,
    refusals: outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : [])),
  }
}

const useOf = async ({ read }: Pick<Awaited<ReturnType<typeof setUp>>, 'read'>) =>
  (await read('/budgets')).items[0].use[0]

describe('a budget', () => {
  it.each([
    ['runs', { runs: 20 }, {}],
    ['tokens that runs reserve', { tokens: 1_000 }, { per_run: { tokens: 50 } }],
    ['cost units that runs reserve', { cost_units: 2 }, { per_run: { cost_units: 0.1 } }],
  ])('of %s is exact under 50 parallel starts', async (_what, limits, options) => {
    const budgeted = await setUp(limits, options)
    const { started, refusals } = await startFifty(budgeted.app)
    expect(started).toBe(20)
    expect(refusals).toEqual(Array(30).fill('budget_exceeded'))
    expect(await useOf(budgeted)).toMatchObject({ runs: 20 })
  })

  it('refuses a run with what is used up and when it starts again, and no agent is called', async () => {
    const { app } = await setUp({ runs: 1 })
    expect((await start(app)).status).toBe(201)
    await platform.drain()
    const before = agent.requests.length
    const { status, body } = await start(app)
    expect(status).toBe(409)
    const midnight = new Date(Math.ceil((platform.clock.now() + 1) / DAY) * DAY)
    expect(body.error).toMatchObject({
      code: 'budget_exceeded',
      message: 'The workspace’s daily budget of 1 run is used up.',
      details: { measure: 'runs', limit: 1, period: 'day', resets_at: midnight.toISOString().replace('Z', '+00:00') },
    })
    await platform.drain()
    expect(agent.requests).toHaveLength(before)
    platform.clock.advance(DAY)
  })

  it('replaces what a run reserved by what the run used, whatever the run’s end', async () => {
    const budgeted = await setUp({ tokens: 1_000, cost_units: 100 }, { per_run: { tokens: 400, cost_units: 30 } })
    const { app } = budgeted
    answers({ cost_units: 2.5, usage: { input_tokens: 90, output_tokens: 10 } })
    await start(app)
    expect(await useOf(budgeted)).toMatchObject({ tokens: 0, reserved: { tokens: 400, cost_units: 30 } })
    await platform.drain()
    const nothing = { tokens: 0, cost_units: 0 }
    expect(await useOf(budgeted)).toMatchObject({ runs: 1, tokens: 100, cost_units: 2.5, reserved: nothing })
    const { body: cancelled } = await start(app)
    await platform.call('POST', `/api/v1/runs/${cancelled.id}/cancel`, { token: app.token })
    expect(await useOf(budgeted)).toMatchObject({ runs: 2, tokens: 100, cost_units: 2.5, reserved: nothing })
  })

  it('of an agent or a person stops only that one', async () => {
    const { app, call } = await setUp({ runs: 100 })
    const other = await installed(platform.deps, { endpoint: agent.url, workspaceId: app.workspaceId })
    const one = { subject: { type: 'agent', id: app.app.id }, period: 'month', limits: { runs: 1 } }
    expect((await call('POST', '/budgets', one)).status).toBe(201)
    const each = { subject: { type: 'person' }, period: 'day', limits: { runs: 1 } }
    expect((await call('POST', '/budgets', each)).status).toBe(201)
    expect([(await start(app)).status, (await start(app)).status, (await start(other)).status]).toEqual([201, 409, 201])
    const colleague = await member(platform.deps, app.workspaceId, 'member')
    const { startRun } = await import('#shared/work/runs/start.ts')
    const asPerson = (id: string) =>
      startRun(createWorkerWork(platform.deps), {
        installation: other.installation,
        input: {},
        trigger: 'manual',
        actor: { id, name: 'Somebody' },
      })
    await asPerson(app.person.user.id)
    await expect(asPerson(app.person.user.id)).rejects.toMatchObject({ code: 'budget_exceeded' })
    await asPerson(colleague.user.id)
  })

  it('stops an inline agent before the turn that it no longer covers, and counts what was used', async () => {
    const app = await inlineAgent(platform)
    const { call, read } = consoleOf(platform, app.person.token)
    const limits = { subject: { type: 'workspace' }, period: 'day', limits: { tokens: 250 }, per_run: { tokens: 100 } }
    expect((await call('POST', '/budgets', limits)).status).toBe(201)
    const more = { calls: [{ tool: 'notify_user', arguments: { title: 'Hello', body: 'World' } }] }
    model.always({ ...more, usage: { input: 100, output: 20 } })
    model.requests.length = 0
    const { body } = await start(app)
    await platform.drain()
    // Turns of 120: the reservation rises to 200 after the first, and doesn't fit after the second.
    expect(model.requests).toHaveLength(2)
    expect(await readRun(platform, app, body.id)).toMatchObject({
      status: 'failed',
      error_code: 'budget_exceeded',
      cost_units: 240,
      usage: { input_tokens: 200, output_tokens: 40 },
    })
    expect((await read('/budgets')).items[0].use[0]).toMatchObject({ tokens: 240, reserved: { tokens: 0 } })
  })

  it('notifies people once when 50, 80 and 100 percent are used, and again after its limits changed', async () => {
    const { app, budget, read, call } = await setUp({ runs: 10 })
    const told = async () =>
      (await read('/notifications')).items
        .filter(({ kind }: { kind: string }) => kind === 'budget.alert')
        .map(({ title }: { title: string }) => title)
        .reverse()
    for (let i = 0; i < 10; i++) {
      platform.clock.advance(1_000)
      await start(app)
      await platform.drain()
    }
    const name = (n: number) => `the workspace’s daily budget of ${n} runs`
    const alerts = [`50% of ${name(10)} is used`, `80% of ${name(10)} is used`, `100% of ${name(10)} is used up`]
    expect(await told()).toEqual(alerts)
    expect((await call('PUT', `/budgets/${budget.id}`, { limits: { runs: 20 } })).status).toBe(200)
    platform.clock.advance(1_000)
    await start(app)
    await platform.drain()
    expect(await told()).toEqual([...alerts, `50% of ${name(20)} is used`])
  })

  it('is named in the audit when it is added and removed', async () => {
    const { app, budget, call, read } = await setUp({ runs: 1 })
    expect((await call('DELETE', `/budgets/${budget.id}`)).status).toBe(204)
    expect((await call('DELETE', `/budgets/${budget.id}`)).status).toBe(404)
    await platform.drain()
    const actions = (await read('/audit')).items.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(expect.arrayContaining(['budget.added', 'budget.removed']))
    await start(app)
    expect((await start(app)).status).toBe(201)
  })

  it('needs a limit, and reservations within it', async () => {
    const { call } = await setUp({ runs: 1 })
    const attempt = async (body: object) =>
      (await call('POST', '/budgets', { subject: { type: 'person' }, period: 'day', ...body })).status
    expect(await attempt({ limits: {} })).toBe(422)
    expect(await attempt({ limits: { tokens: 0 } })).toBe(422)
    expect(await attempt({ limits: { tokens: 10 }, per_run: { tokens: 11 } })).toBe(422)
    expect(
      (await call('POST', '/budgets', { subject: { type: 'workspace' }, period: 'day', limits: { runs: 1 } })).status,
    ).toBe(409)
  })
})

describe('the workspace’s analytics', () => {
  it('contain runs, tokens and costs by person', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    answers({ cost_units: 2, usage: { input_tokens: 30, output_tokens: 12 } })
    const { startRun } = await import('#shared/work/runs/start.ts')
    const { user } = app.person
    await startRun(createWorkerWork(platform.deps), {
      installation: app.installation,
      input: {},
      trigger: 'manual',
      actor: { id: user.id, name: user.name },
    })
    await start(app)
    await platform.drain()
    const figures = await consoleOf(platform, app.person.token).read('/analytics?days=1')
    expect(figures).toMatchObject({ runs: 2, tokens: 84, cost_units: 4 })
    expect(figures.by_person).toMatchObject([{ user_id: user.id, name: user.name, runs: 1, tokens: 42, cost_units: 2 }])
  })
})
