import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { TaskEntity } from '#shared/work/tasks/entity.ts'
import { killAfter } from '#testkit/faults.ts'
import { deathsAt } from '#testkit/sampling.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, succeedsWith, usingAgents } from './agents-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)

const codes = (answers: { status: number; body: { error?: { code: string } } }[]) =>
  answers.map(({ status, body }) => body.error?.code ?? status)

const times = <T>(n: number, value: T): T[] => Array.from({ length: n }, () => value)

describe('the rate of calls', () => {
  it('is 30 for a full bucket plus one every 2 seconds, across both tools', async () => {
    const [caller, target] = await agents.team({}, {})
    const one = (n: number) =>
      n % 2 ? agents.ask(caller.token, 'nobody') : agents.delegate(caller.token, target.slug, { start_now: false })
    const first = await Promise.all(Array.from({ length: 20 }, (_, n) => one(n)))
    platform.clock.advance(1_000)
    const next = await Promise.all(Array.from({ length: 10 }, (_, n) => one(n)))
    const made = [...codes(first), ...codes(next)]
    expect(made.filter((code) => code === 200)).toHaveLength(15)
    expect(made.filter((code) => code === 'unknown_agent')).toHaveLength(15)

    platform.clock.advance(900)
    const { status, body, headers } = await agents.delegate(caller.token, target.slug)
    expect([status, body.error.code, body.error.details]).toEqual([
      429,
      'rate_limited',
      { limit_scope: 'installation' },
    ])
    expect(headers['retry-after']).toBe('1')
    platform.clock.advance(1_000)
    const more = [await agents.ask(caller.token, 'nobody'), await agents.ask(caller.token, 'nobody')]
    expect(codes(more)).toEqual(['unknown_agent', 'rate_limited'])
    const entries = await agents.audit(caller.workspaceId)
    expect(entries.filter(({ details }) => details.reason === 'rate_limited')).toHaveLength(2)
  })

  it('is limited per installation', async () => {
    const [one, other] = await agents.team({}, {})
    for (let n = 0; n < 31; n++) {
      platform.clock.advance(100)
      await agents.ask(one.token, 'nobody')
    }
    expect((await agents.ask(other.token, 'nobody')).body.error.code).toBe('unknown_agent')
  })
})

describe('an Idempotency-Key', () => {
  it('returns the stored answer of a call without a second run, audit entry or token', async () => {
    let n = 0
    const [caller, target] = await agents.team({}, { behaviour: () => ({ status: 'succeeded', output: { n: ++n } }) })
    const { run, token } = await agents.running(caller)
    const key = randomUUID()
    const first = await agents.asking(token, target.slug, {}, { key })
    const second = await agents.asking(token, target.slug, {}, { key })
    expect(first.body.result.output).toEqual({ n: 1 })
    expect(second.text).toBe(first.text)
    expect(second.headers['idempotency-replayed']).toBe('true')
    const task = { key: randomUUID() }
    const made = [
      await agents.delegate(token, target.slug, {}, task),
      await agents.delegate(token, target.slug, {}, task),
    ]
    expect(made[1]?.text).toBe(made[0]?.text)
    await platform.drain()
    expect(await agents.runsOf(target)).toHaveLength(2)
    expect(await agents.audit(caller.workspaceId)).toHaveLength(2)
    const { body } = await platform.call('GET', `/api/v1/runs/${run.id}`, { token })
    expect(body.steps.map(({ tool }: { tool: string }) => tool)).toEqual(['ask_agent', 'delegate_task'])
  })

  it('is in progress while the first call waits', async () => {
    const [caller, target] = await agents.team({}, { behaviour: () => pause(300, { status: 'succeeded' }) })
    const key = randomUUID()
    const first = agents.asking(caller.token, target.slug, {}, { key })
    while ((await agents.runsOf(target)).length === 0) await pause(10)
    const second = await agents.ask(caller.token, target.slug, {}, { key })
    expect([second.status, second.body.error.code]).toEqual([409, 'conflict'])
    expect(second.headers['retry-after']).toBeDefined()
    expect((await first).status).toBe(200)
    expect(await agents.runsOf(target)).toHaveLength(1)
  })

  it('stores a refusal, and audits it once', async () => {
    const [caller] = await agents.team({})
    const key = randomUUID()
    const first = await agents.ask(caller.token, 'nobody', {}, { key })
    const second = await agents.ask(caller.token, 'nobody', {}, { key })
    expect([second.status, second.text]).toEqual([404, first.text])
    expect(await agents.audit(caller.workspaceId)).toHaveLength(1)
  })

  it('doesn’t store a refusal for lack of tokens', async () => {
    const [caller, target] = await agents.team({}, {})
    for (let n = 0; n < 30; n++) {
      platform.clock.advance(60)
      await agents.ask(caller.token, 'nobody')
    }
    const key = randomUUID()
    expect((await agents.ask(caller.token, target.slug, {}, { key })).status).toBe(429)
    expect((await agents.ask(caller.token, target.slug, {}, { key })).status).toBe(429)
    platform.clock.advance(2_000)
    expect((await agents.asking(caller.token, target.slug, {}, { key })).status).toBe(200)
  })
})

describe('concurrent calls', () => {
  it('of one run each get their own answer and step', async () => {
    const [caller, one, other] = await agents.team(
      {},
      { behaviour: succeedsWith({ n: 1 }) },
      { behaviour: succeedsWith({ n: 2 }) },
    )
    const { run, token } = await agents.running(caller)
    const answers = await agents.whileWorking(() =>
      Promise.all([one, other, one].map(({ slug }) => agents.ask(token, slug))),
    )
    expect(answers.map(({ body }) => body.result.output)).toEqual([{ n: 1 }, { n: 2 }, { n: 1 }])
    const { body } = await platform.call('GET', `/api/v1/runs/${run.id}`, { token })
    expect(body.steps.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2, 3])
  })

  it('never give a target more than five active runs', async () => {
    const [caller, target] = await agents.team({}, { behaviour: () => ACCEPT })
    const before = agents.receiver.requests.length
    const calls = times(8, 0).map(() => agents.whileWorking(() => agents.ask(caller.token, target.slug)))
    await agents.receiver.received(before + 5)
    expect(await agents.activeRuns(target)).toBe(5)
    for (const { id } of await agents.runsOf(target)) {
      await platform.call('POST', `/api/v1/runs/${id}/complete`, { token: target.token, body: { status: 'succeeded' } })
    }
    expect(codes(await Promise.all(calls)).sort()).toEqual(
      [...times(5, 200), ...times(3, 'too_many_active_runs')].sort(),
    )
  })
})

describe('the asking run', () => {
  it('counts as active while it waits', async () => {
    const [caller, target] = await agents.team({}, { behaviour: () => ACCEPT })
    const { run, token } = await agents.running(caller)
    platform.clock.advance(60_000)
    const before = agents.receiver.requests.length
    const answer = agents.whileWorking(() => agents.ask(token, target.slug))
    await agents.receiver.received(before + 1)
    expect((await agents.runOf(caller.workspaceId, run.id)).alive_at).toBe(platform.clock.now())
    platform.clock.advance(120_000)
    await answer
  })

  it.each(['cancel', 'complete'])(
    'that ends by %s also ends the run it waits for, and the runs below that',
    async (how) => {
      const [a, b, c] = await agents.team({}, {}, { behaviour: () => ACCEPT })
      b.behaves(async ({ callback }) => {
        await agents.ask(callback.token, c.slug)
        return { status: 'succeeded' }
      })
      const { run, token } = await agents.running(a)
      const answer = agents.whileWorking(() => agents.ask(token, b.slug))
      while ((await agents.runsOf(c))[0]?.status !== 'running') await pause(10)
      await platform.call('POST', `/api/v1/runs/${run.id}/${how}`, {
        token: a.token,
        ...(how === 'complete' && { body: { status: 'failed' } }),
      })
      const { status, body } = await answer
      expect([status, body.error.code]).toEqual([409, 'run_already_finished'])
      expect((await agents.runsOf(b))[0]?.status).toBe('cancelled')
      while ((await agents.runsOf(c))[0]?.status === 'running') await pause(10)
      expect((await agents.runsOf(c))[0]?.status).toBe('cancelled')
      expect([await agents.activeRuns(b), await agents.activeRuns(c)]).toEqual([0, 0])
    },
  )

  it('can’t ask when its steps are full', async () => {
    const [caller, target] = await agents.team({}, {})
    const { run, token } = await agents.running(caller)
    for (let n = 0; n < 4; n++) {
      const steps = times(50, { type: 'message' })
      await platform.call('POST', `/api/v1/runs/${run.id}/steps`, { token, body: { steps } })
    }
    const { status, body } = await agents.ask(token, target.slug)
    expect([status, body.error.code]).toEqual([403, 'too_many_steps'])
    expect(await agents.runsOf(target)).toEqual([])
  })

  it('can’t ask when it has ended', async () => {
    const [caller, target] = await agents.team({}, {})
    const { run, token } = await agents.running(caller)
    await platform.call('POST', `/api/v1/runs/${run.id}/cancel`, { token: caller.token })
    for (const answer of [
      await agents.ask(token, target.slug),
      await agents.ask(caller.token, target.slug, {}, { run_id: run.id }),
      await agents.delegate(caller.token, target.slug, {}, { run_id: run.id }),
    ]) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'run_already_finished'])
    }
    expect(await agents.runsOf(target)).toEqual([])
  })
})

/** Sends a call that starts the target's run, then fails the reads it waits by. */
const dyingWhileItWaits = async (send: () => Promise<{ status: number }>) => {
  const { table } = platform.deps
  const { getAll } = table
  table.getAll = (async (refs) => {
    if (refs.length === 2 && refs.every(({ entity }) => entity.name === 'run')) throw new Error('broken')
    return getAll.call(table, refs)
  }) as typeof getAll
  try {
    expect((await send()).status).toBe(500)
  } finally {
    table.getAll = getAll
  }
}

describe('a platform that crashes at any point of a call', () => {
  const LOCK = 181_000

  it.each([
    ['ask_agent', { tool: 'look' }],
    ['delegate_task', { title: 'Count' }],
  ])('to %s makes it once, and releases everything it acquired', async (tool, args) => {
    for (const n of deathsAt(100, 8)) {
      const [caller, target] = await agents.team({}, { behaviour: succeedsWith({ n }) })
      const { token } = await agents.running(caller)
      const call = { key: randomUUID() }
      const death = killAfter(platform, n)
      const first = await agents.whileWorking(
        () => agents.invoke(token, tool, { agent: target.slug, ...args }, call),
        true,
      )
      if (!death.restore()) {
        expect(first.status).toBe(200)
        expect(death.effects()).toBeGreaterThan(3)
        return
      }
      expect(first.status).toBeOneOf([200, 500])
      // The client retries after the crashed request's lock has expired, when the chain's time is up, too.
      for (let minute = 0; minute < 4; minute++) {
        platform.clock.advance(LOCK / 4)
        await platform.sweep()
        await platform.drain()
      }
      const again = await agents.whileWorking(() => agents.invoke(token, tool, { agent: target.slug, ...args }, call))
      // The retry may be what starts the run, and answers before the workers have seen it.
      await platform.drain()
      const runs = await agents.runsOf(target)
      expect(runs.length, `after ${n}`).toBeLessThanOrEqual(1)
      for (const { status } of runs) expect(status).toBeOneOf(['succeeded', 'failed', 'cancelled'])
      expect(await agents.activeRuns(target)).toBe(0)
      const called = (await agents.audit(caller.workspaceId)).filter(({ action }) => action === 'agent.called')
      expect(called).toHaveLength(runs.length)
      expect(again.status, again.text).not.toBe(500)
      if (tool === 'delegate_task') {
        const { items } = await platform.deps.table.query(
          TaskEntity,
          { workspace_id: caller.workspaceId },
          { limit: 9 },
        )
        expect(items).toHaveLength(runs.length)
      }
    }
    expect.unreachable('the scene has no end')
  })

  it('resumes waiting for the run that the crashed request had started', async () => {
    const [caller, target] = await agents.team({}, { behaviour: succeedsWith({ once: true }) })
    const { run, token } = await agents.running(caller)
    const call = { key: randomUUID() }
    await dyingWhileItWaits(() => agents.ask(token, target.slug, {}, call))
    expect(await agents.runsOf(target)).toHaveLength(1)
    await target.set({ status: 'active', allowed_callers: [] })
    const again = await agents.asking(token, target.slug, {}, call)
    expect(again.body.result.output).toEqual({ once: true })
    expect(await agents.runsOf(target)).toHaveLength(1)
    expect(await agents.audit(caller.workspaceId)).toHaveLength(1)
    const { body } = await platform.call('GET', `/api/v1/runs/${run.id}`, { token: caller.token })
    expect(body.steps).toHaveLength(1)
  })

  it.each(['is silent', 'waits for a person'])(
    'leaves no question open: the sweeper ends a target that %s together with its chain, and the retry reports it',
    async (what) => {
      const [caller, target] = await agents.team({}, { behaviour: () => ACCEPT })
      const { token } = await agents.running(caller)
      const call = { key: randomUUID() }
      await dyingWhileItWaits(() => agents.ask(token, target.slug, {}, call))
      await platform.drain()
      if (what === 'waits for a person') {
        const { body } = await agents.invoke(agents.received.at(-1).callback.token, 'http_fetch', {
          url: 'http://127.0.0.1:9/',
        })
        expect(body.status).toBe('awaiting_approval')
      }
      platform.clock.advance(119_000)
      await platform.sweep()
      expect(await agents.activeRuns(target)).toBe(1)
      platform.clock.advance(1_000)
      await platform.sweep()
      expect(await agents.runsOf(target)).toMatchObject([{ status: 'cancelled' }])
      expect(await agents.activeRuns(target)).toBe(0)
      const again = await agents.ask(token, target.slug, {}, call)
      expect([again.status, again.body.error.code]).toEqual([409, 'chain_budget_exceeded'])
    },
  )

  it('judges the retry by the current state when the crash came after a refusal', async () => {
    for (let n = 1; ; n++) {
      const [caller] = await agents.team({})
      const call = { key: randomUUID() }
      await platform.drain()
      const death = killAfter(platform, n)
      const first = await agents.ask(caller.token, 'Late', {}, call)
      const died = death.restore()
      expect(died, 'it never died between the entry and the answer').toBe(true)
      if ((await agents.audit(caller.workspaceId)).length === 0) continue
      expect(first.status).toBe(500)
      await agents.agent({ workspaceId: caller.workspaceId, name: 'Late' })
      platform.clock.advance(LOCK)
      expect((await agents.asking(caller.token, 'Late', {}, call)).status).toBe(200)
      expect((await agents.audit(caller.workspaceId)).map(({ action }) => action).sort()).toEqual([
        'agent.call_denied',
        'agent.called',
      ])
      break
    }
  })
})
