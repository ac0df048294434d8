import { afterEach, describe, expect, it } from 'vitest'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { TaskEntity } from '#shared/work/tasks/entity.ts'
import type { Answer } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, type Behaviour, Raw, succeedsWith, usingAgents } from './agents-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)

/** Behaviour of an agent that asks another one, returns its answer, and fails with the error that refused it. */
const asks =
  (slug: string, seen: Answer[] = []): Behaviour =>
  async ({ callback }) => {
    const answer = await agents.ask(callback.token, slug)
    seen.push(answer)
    if (answer.status === 200) return { status: 'succeeded', output: { next: answer.body.result } }
    return { status: 'failed', error_code: answer.body.error.code, error_message: answer.body.error.message }
  }

const UNAVAILABLE = new Raw({ kind: 'answer', status: 503 })

const startRun = (token: string) => platform.call('POST', '/api/v1/runs', { token, body: {} })

/** Resolves once the target of a waiting call has received its run. */
const handed = async (count: number) => {
  await agents.receiver.received(count)
}

describe('the deadline of a chain', () => {
  const deadlinesOf = async (agent: Parameters<typeof agents.runsOf>[0]) =>
    new Set((await agents.runsOf(agent)).map(({ chain_deadline }) => chain_deadline))

  afterEach(() => platform.clock.tick(0))

  it('is set by the first question and stays the same for the next ones', async () => {
    const [a, b] = await agents.team({}, { behaviour: succeedsWith({}) })
    const { token, run } = await agents.running(a)
    platform.clock.tick(7)
    for (let i = 0; i < 3; i++) expect((await agents.asking(token, b.slug)).status).toBe(200)
    const [deadline, ...others] = await deadlinesOf(b)
    expect(others).toEqual([])
    const [asking] = (await agents.runsOf(a)).filter(({ id }) => id === run.id)
    expect(asking?.first_hop_at).toBe((deadline ?? 0) - 120_000)
  })

  it('is set once by questions at the same time', async () => {
    const [a, b] = await agents.team({}, { behaviour: succeedsWith({}) })
    const { token } = await agents.running(a)
    platform.clock.tick(7)
    const answers = await agents.whileWorking(() =>
      Promise.all(Array.from({ length: 4 }, () => agents.ask(token, b.slug))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await agents.runsOf(b)).length).toBe(4)
    expect((await deadlinesOf(b)).size).toBe(1)
  })
})

describe('the depth of a chain', () => {
  it('allows A to ask B to ask C to ask D, and D to ask no one', async () => {
    const [a, b, c, d, e] = await agents.team({}, {}, {}, {}, {})
    const seen: Answer[] = []
    b.behaves(asks(c.slug, seen))
    c.behaves(asks(d.slug, seen))
    d.behaves(asks(e.slug, seen))
    const { token } = await agents.running(a)
    const { body } = await agents.asking(token, b.slug)
    expect(body.result).toMatchObject({
      chain_depth: 1,
      output: { next: { chain_depth: 2, output: { next: { chain_depth: 3, error_code: 'chain_too_deep' } } } },
    })
    expect(seen.map(({ status, body }) => [status, body.error?.code])).toEqual([
      [409, 'chain_too_deep'],
      [200, undefined],
      [200, undefined],
    ])
    expect(await agents.runsOf(e)).toEqual([])
    const denied = (await agents.audit(a.workspaceId)).filter(({ action }) => action === 'agent.call_denied')
    expect(denied).toMatchObject([{ details: { reason: 'chain_too_deep', agent: e.slug } }])
  })

  it('ends a loop between two agents', async () => {
    const [a, b] = await agents.team({}, {})
    const { token } = await agents.running(a)
    a.behaves(asks(b.slug))
    b.behaves(asks(a.slug))
    const { body } = await agents.asking(token, b.slug)
    const third = body.result.output.next.output.next
    expect(third).toMatchObject({ status: 'failed', error_code: 'chain_too_deep', chain_depth: 3 })
  })

  it('applies to a plain token without a run, for as long as a chain can last', async () => {
    const [a, b, c] = await agents.team({}, { behaviour: succeedsWith({}) }, {})
    const { token } = await agents.running(a)
    await agents.asking(token, b.slug)
    // The backend of b continues by itself after its run has ended.
    platform.clock.advance(119_000)
    expect((await agents.delegate(b.token, c.slug)).body.result.chain_depth).toBe(2)
    platform.clock.advance(2_000)
    expect((await agents.delegate(b.token, c.slug)).body.result.chain_depth).toBe(1)
  })

  it('applies to a plain token that names a run of lower depth', async () => {
    const [a, b, c] = await agents.team({}, { behaviour: succeedsWith({}) }, {})
    const own = await agents.running(b)
    b.behaves(succeedsWith({}))
    const { token } = await agents.running(a)
    await agents.asking(token, b.slug)
    const named = await agents.asking(b.token, c.slug, {}, { run_id: own.run.id })
    expect(named.body.result.chain_depth).toBe(2)
    // The run's own token identifies it with certainty.
    expect((await agents.asking(own.token, c.slug)).body.result.chain_depth).toBe(1)
  })

  it('carries over to runs that an agent starts over the API inside a chain', async () => {
    const [a, b] = await agents.team({}, { behaviour: succeedsWith({}) })
    const { token } = await agents.running(a)
    await agents.asking(token, b.slug)
    expect((await startRun(b.token)).body.chain_depth).toBe(1)
    platform.clock.advance(121_000)
    expect((await startRun(a.token)).body.chain_depth).toBe(0)
  })

  it('follows a task permanently: through a question, a report and a person who runs it again', async () => {
    const [a, b] = await agents.team({}, { behaviour: () => ACCEPT })
    const { token } = await agents.running(a)
    const { body } = await agents.delegate(token, b.slug)
    const { task_id, run_id } = body.result
    await platform.drain()
    const execute = agents.received.at(-1)
    expect(execute).toMatchObject({ run: { id: run_id, trigger: 'task' }, task: { id: task_id }, chain: { depth: 1 } })
    const say = (what: string, text: string, as = execute.callback.token) =>
      platform.call('POST', `/api/v1/tasks/${task_id}/${what}`, { token: as, body: { text } })
    expect((await say('question', 'Which one?')).body.chain_depth).toBe(1)
    expect((await say('report', 'Done.')).body.chain_depth).toBe(1)
    await platform.call('POST', `/api/v1/runs/${run_id}/complete`, { token: b.token, body: { status: 'succeeded' } })
    platform.clock.advance(86_400_000)
    const person = (await platform.call('POST', '/console/session', { body: { user: 'p', workspace: b.workspaceId } }))
      .body
    const again = await platform.call('POST', `/console/tasks/${task_id}/run`, { token: person.token, body: {} })
    expect(again.status).toBeLessThan(300)
    const [latest] = await agents.runsOf(b)
    expect(latest).toMatchObject({ chain_depth: 1, task_id, actor: { id: person.user.id } })
    expect(latest?.id).not.toBe(run_id)
    await platform.drain()
    expect((await agents.delegate(agents.received.at(-1).callback.token, a.slug)).body.result.chain_depth).toBe(2)
  })
})

describe('a chain that continues through tasks', () => {
  /** Reports as the assignee with its run’s token, and completes its run. */
  const report = async (task_id: string, run_id: string, token: string) => {
    await platform.drain()
    const said = await platform.call('POST', `/api/v1/tasks/${task_id}/report`, { token, body: { text: 'Done.' } })
    expect(said.status).toBe(200)
    await platform.call('POST', `/api/v1/runs/${run_id}/complete`, { token, body: { status: 'succeeded' } })
    await platform.drain()
  }

  it('doesn’t restart when a result returns, so two agents can’t loop forever', async () => {
    const [a, b] = await agents.team({}, { behaviour: () => ACCEPT })
    for (const depth of [1, 2, 3]) {
      const { body } = await agents.delegate(a.token, b.slug)
      expect(body.result.chain_depth).toBe(depth)
      await report(body.result.task_id, body.result.run_id, b.token)
    }
    expect((await agents.delegate(a.token, b.slug)).body.error.code).toBe('chain_too_deep')
    expect((await startRun(a.token)).body.chain_depth).toBe(3)
  })

  it('is external for the recipient of an external task’s result', async () => {
    const [a, b] = await agents.team({}, { behaviour: () => ACCEPT })
    const { body } = await agents.delegate(a.token, b.slug, { audience: 'external' })
    await report(body.result.task_id, body.result.run_id, b.token)
    const next = await agents.delegate(a.token, b.slug, { audience: 'member' })
    const key = { workspace_id: a.workspaceId, id: next.body.result.task_id }
    expect((await platform.deps.table.get(TaskEntity, key))?.audience).toBe('external')
    await platform.drain()
  })

  it('stays external when the task has returned to the delegating agent', async () => {
    const [a, b] = await agents.team({}, {})
    const { body } = await agents.delegate(a.token, b.slug, { start_now: false })
    const path = `/console/tasks/${body.result.task_id}`
    await platform.call('PATCH', path, { token: a.person.token, body: { installation_id: a.installation.id } })
    const said = await platform.call('POST', `/api/v1/tasks/${body.result.task_id}/report`, {
      token: a.token,
      body: { text: 'Done.' },
    })
    expect(said.status).toBe(200)
    expect((await agents.delegate(a.token, b.slug)).body.result.chain_depth).toBe(2)
    await platform.drain()
  })

  it('carries over to the agent that a person assigns the task to, or writes to about it', async () => {
    const [a, b, c] = await agents.team({}, {}, {})
    const { body } = await agents.delegate(a.token, b.slug, { start_now: false, audience: 'external' })
    const path = `/console/tasks/${body.result.task_id}`
    const as = { token: a.person.token }
    const caused = async () => {
      const { result } = (await agents.delegate(c.token, a.slug, { start_now: false, audience: 'member' })).body
      const task = await platform.deps.table.get(TaskEntity, { workspace_id: a.workspaceId, id: result.task_id })
      return [task?.chain_depth, task?.audience]
    }
    expect((await platform.call('PATCH', path, { ...as, body: { installation_id: c.installation.id } })).status).toBe(
      200,
    )
    expect(await caused()).toEqual([2, 'external'])
    platform.clock.advance(121_000)
    expect((await platform.call('POST', `${path}/messages`, { ...as, body: { text: 'And?' } })).status).toBe(201)
    expect(await caused()).toEqual([2, 'external'])
  })

  it('applies to work on a task inside an unrelated run', async () => {
    const [a, b, c] = await agents.team({}, {}, {})
    const { body } = await agents.delegate(a.token, b.slug, { start_now: false, audience: 'external' })
    platform.clock.advance(121_000)
    const own = await agents.running(b)
    expect(own.run.chain_depth).toBe(0)
    await platform.call('POST', `/api/v1/tasks/${body.result.task_id}/progress`, {
      token: own.token,
      body: { text: 'Looking.' },
    })
    expect((await agents.delegate(b.token, c.slug)).body.result.chain_depth).toBe(2)
    await platform.drain()
  })
})

describe('the 120 seconds of a chain', () => {
  it('begin with the first question and are shared by the whole chain: later questions have less time', async () => {
    const [a, b] = await agents.team({}, {})
    const { token } = await agents.running(a)
    platform.clock.advance(700_000)
    await agents.asking(token, b.slug)
    const [asked] = await agents.runsOf(b)
    expect(asked?.chain_deadline).toBe(platform.clock.now() + 120_000)
    platform.clock.advance(120_000)
    const late = await agents.ask(token, b.slug)
    expect([late.status, late.body.error.code]).toEqual([409, 'chain_budget_exceeded'])
    expect(await agents.runsOf(b)).toHaveLength(1)
    expect((await agents.audit(a.workspaceId)).map(({ details }) => details.reason)).toEqual([
      undefined,
      'chain_budget_exceeded',
    ])
  })

  it('end a question to a target that accepts and never reports: its run is cancelled and its slot is released', async () => {
    const [a, b] = await agents.team({}, { behaviour: () => ACCEPT })
    const { token } = await agents.running(a)
    const before = agents.receiver.requests.length
    const answer = agents.whileWorking(() => agents.ask(token, b.slug))
    await handed(before + 1)
    platform.clock.advance(120_000)
    await isEnded(b, await answer)
  })

  it('end a question to a target that waits for its dispatcher: its run is cancelled and its slot is released', async () => {
    const [a, b] = await agents.team({}, { behaviour: () => UNAVAILABLE, maxAttempts: 2 })
    const { token } = await agents.running(a)
    // The request itself makes the first attempt only; no worker comes for the second.
    const answer = agents.ask(token, b.slug)
    await until(async () => platform.messages.some(({ queue }) => queue === 'dispatch'))
    platform.clock.advance(120_000)
    await isEnded(b, await answer)
  })

  const isEnded = async (target: Parameters<typeof agents.runsOf>[0], { status, body }: Answer) => {
    expect([status, body.error?.code]).toEqual([409, 'chain_budget_exceeded'])
    expect(await agents.runsOf(target)).toMatchObject([{ status: 'cancelled' }])
    expect(await agents.activeRuns(target)).toBe(0)
    await platform.drain()
  }

  it('also end the question when the sweeper was faster than the waiting caller', async () => {
    const [a, b] = await agents.team({}, { behaviour: () => ACCEPT })
    const { token } = await agents.running(a)
    const before = agents.receiver.requests.length
    const answer = agents.whileWorking(() => agents.ask(token, b.slug))
    await handed(before + 1)
    platform.clock.advance(120_000)
    await platform.sweep()
    expect(await agents.runsOf(b)).toMatchObject([{ status: 'cancelled' }])
    expect((await answer).body.error.code).toBe('chain_budget_exceeded')
  })

  it('aren’t limited by a root run, however old: calls that name no run', async () => {
    const [a, b] = await agents.team({}, {})
    await agents.running(a)
    platform.clock.advance(700_000)
    const { token } = await issueToken(platform.deps, 'access', {
      ins: a.installation.id,
      ws: a.workspaceId,
      app: a.app.id,
      grt: a.grant.id,
      sv: 1,
    })
    const { status, body } = await agents.asking(token, b.slug)
    expect([status, body.result.status]).toEqual([200, 'succeeded'])
  })

  it('restart for a delegated task’s run, whose depth is kept', async () => {
    const [a, b] = await agents.team({}, {})
    const { run, token } = await agents.running(a)
    platform.clock.advance(100_000)
    await agents.delegate(token, b.slug)
    const [started] = await agents.runsOf(b)
    expect(started).toMatchObject({
      chain_depth: 1,
      chain_deadline: platform.clock.now() + 120_000,
      parent_run_id: run.id,
      caller: { installation_id: a.installation.id, run_id: run.id, slug: a.slug },
    })
    await platform.drain()
  })

  it('also end delegation once they are used up', async () => {
    const [a, b] = await agents.team({}, {})
    const { token } = await agents.running(a)
    await agents.asking(token, b.slug)
    platform.clock.advance(120_000)
    const { status, body } = await agents.delegate(token, b.slug)
    expect([status, body.error.code]).toEqual([409, 'chain_budget_exceeded'])
  })
})

describe('delegate_task', () => {
  it('creates a task for the other agent and starts it at once', async () => {
    const [a, b] = await agents.team({}, { name: 'Counter', behaviour: () => ACCEPT })
    const { run, token } = await agents.running(a)
    const { body } = await agents.delegate(token, b.slug, { title: 'Count', description: 'All of it.' })
    const [started] = await agents.runsOf(b)
    const { task_id } = body.result
    expect(body.result).toEqual({
      task_id,
      status: 'todo',
      agent: 'Counter',
      source: `agent:${b.slug}`,
      run_id: started?.id,
      chain_depth: 1,
    })
    await platform.drain()
    expect(agents.received.at(-1)).toMatchObject({
      task: { id: task_id, title: 'Count', description: 'All of it.', audience: 'member', chain_depth: 1 },
      caller: { slug: a.slug, run_id: run.id, audience: 'member' },
    })
    const { body: read } = await platform.call('GET', `/api/v1/tasks/${task_id}`, { token: a.token })
    expect(read).toMatchObject({ id: task_id, assignee: { installation_id: b.installation.id }, parent_run_id: run.id })
  })

  it('leaves the task in todo when it isn’t to start now', async () => {
    const [a, b] = await agents.team({}, {})
    const { body } = await agents.delegate(a.token, b.slug, { start_now: false })
    expect(body.result).toMatchObject({ status: 'todo', run_id: null })
    expect(await agents.runsOf(b)).toEqual([])
    const { items } = (await platform.call('GET', '/api/v1/tasks', { token: b.token })).body
    expect(items).toMatchObject([{ id: body.result.task_id }])
  })

  it('requires a target that may read tasks, also by the rules of its workspace', async () => {
    const [a, none, writes] = await agents.team({}, { scopes: ['runs:read'] }, { scopes: ['tasks:write'] })
    const { status, body } = await agents.delegate(a.token, none.slug)
    expect([status, body.error.code]).toEqual([409, 'agent_cannot_take_tasks'])
    expect((await agents.delegate(a.token, writes.slug)).status).toBe(200)
    const put = await platform.call('PUT', '/console/settings/bans', {
      token: a.person.token,
      body: { denied_tools: [], denied_scopes: ['tasks:read'] },
    })
    expect(put.status).toBe(200)
    expect((await agents.delegate(a.token, writes.slug)).body.error.code).toBe('agent_cannot_take_tasks')
  })

  it('creates neither task nor run for a target with five active runs, and audits why', async () => {
    const [a, b] = await agents.team({}, { behaviour: () => ACCEPT })
    for (let n = 0; n < 5; n++) await startRun(b.token)
    const { token } = await agents.running(a)
    const { status, body } = await agents.delegate(token, b.slug)
    expect([status, body.error.code]).toEqual([409, 'too_many_active_runs'])
    const { items } = await platform.deps.table.query(TaskEntity, { workspace_id: a.workspaceId }, { limit: 10 })
    expect(items).toEqual([])
    expect(await agents.audit(a.workspaceId)).toMatchObject([
      { action: 'agent.call_denied', details: { reason: 'too_many_active_runs', agent: b.slug } },
    ])
    await platform.drain()
  })

  it.each([
    ['title', 'x'.repeat(301)],
    ['title', '  '],
    ['description', 'x'.repeat(8_001)],
  ])('refuses a %s that is too long or empty', async (field, text) => {
    const [a, b] = await agents.team({}, {})
    const { status, body } = await agents.delegate(a.token, b.slug, { [field]: text })
    expect([status, body.error.code]).toEqual([422, 'validation_error'])
  })

  it('returns the report to the delegating agent', async () => {
    const [a, b] = await agents.team({}, { behaviour: () => ACCEPT })
    const { token } = await agents.running(a)
    const { body } = await agents.delegate(token, b.slug)
    await platform.drain()
    const report = await platform.call('POST', `/api/v1/tasks/${body.result.task_id}/report`, {
      token: agents.received.at(-1).callback.token,
      body: { text: 'Seven.', output: { n: 7 } },
    })
    expect(report.status).toBe(200)
    await platform.drain()
    const { body: feed } = await platform.call('GET', '/api/v1/events?types=task.result', { token: a.token })
    expect(feed.items).toMatchObject([
      { type: 'task.result', data: { task_id: body.result.task_id, text: 'Seven.', output: { n: 7 } } },
    ])
  })
})

describe('an external audience', () => {
  it('carries down every path, whatever is declared on the way', async () => {
    const [a, b, c] = await agents.team({}, { behaviour: () => ACCEPT }, {})
    const { token } = await agents.running(a)
    const before = agents.receiver.requests.length
    const first = agents.whileWorking(() => agents.ask(token, b.slug, { audience: 'external' }))
    await handed(before + 1)
    const { run, callback, audience, caller } = agents.received.at(-1)
    expect([audience, caller.audience]).toEqual(['external', 'external'])

    const [asked, delegated, created, started] = await Promise.all([
      agents.ask(callback.token, c.slug, { audience: 'member' }),
      agents.delegate(callback.token, c.slug, { audience: 'member' }),
      agents.invoke(callback.token, 'create_task', { title: 'Own' }),
      startRun(callback.token),
    ])
    expect([asked, delegated, created, started].map(({ status }) => status)).toEqual([200, 200, 200, 201])
    for (const one of await agents.runsOf(c)) expect(one.audience).toBe('external')
    expect((await agents.runOf(b.workspaceId, started.body.id)).audience).toBe('external')
    for (const { body } of [delegated, created]) {
      const key = { workspace_id: b.workspaceId, id: body.result.task_id }
      expect((await platform.deps.table.get(TaskEntity, key))?.audience).toBe('external')
    }
    // A plain token while the run is active, in any run: in doubt it is external.
    expect((await agents.runOf(b.workspaceId, (await startRun(b.token)).body.id)).audience).toBe('external')
    await platform.call('POST', `/api/v1/runs/${run.id}/complete`, {
      token: callback.token,
      body: { status: 'succeeded' },
    })
    await first
  })

  it('applies to a call that could belong to either of two concurrent runs', async () => {
    const [a, b, c] = await agents.team({}, { behaviour: () => ACCEPT }, {})
    await agents.running(b)
    const { body } = await agents.delegate(a.token, b.slug, { audience: 'external' })
    const plain = await agents.delegate(b.token, c.slug, { audience: 'member' })
    const task = (id: string) => platform.deps.table.get(TaskEntity, { workspace_id: a.workspaceId, id })
    expect((await task(plain.body.result.task_id))?.audience).toBe('external')
    await platform.drain()
    await platform.call('POST', `/api/v1/runs/${body.result.run_id}/cancel`, { token: b.token })
    const after = await agents.delegate(b.token, c.slug)
    expect((await task(after.body.result.task_id))?.audience).toBe('member')
  })

  it('carries over with a task to its run when a person runs it again', async () => {
    const [a, b] = await agents.team({}, { behaviour: () => ACCEPT })
    const { body } = await agents.delegate(a.token, b.slug, { audience: 'external', start_now: false })
    const again = await platform.call('POST', `/console/tasks/${body.result.task_id}/run`, {
      token: b.person.token,
      body: {},
    })
    expect(again.status).toBeLessThan(300)
    expect(await agents.runsOf(b)).toMatchObject([{ audience: 'external', chain_depth: 1 }])
    await platform.drain()
  })
})

describe('the person at the start of a chain', () => {
  it('is known to every agent in it', async () => {
    const [a, b, c] = await agents.team({ behaviour: () => ACCEPT }, {}, {})
    const { body: task } = await platform.call('POST', '/console/tasks', {
      token: a.person.token,
      body: { title: 'Count', installation_id: a.installation.id },
    })
    await platform.call('POST', `/console/tasks/${task.id}/run`, { token: a.person.token, body: {} })
    await platform.drain()
    b.behaves(asks(c.slug))
    await agents.asking(agents.received.at(-1).callback.token, b.slug)
    const actor = { id: a.person.user.id, name: a.person.user.name }
    expect(agents.received.slice(-2).map((execute) => execute.actor)).toEqual([actor, actor])
  })
})

const until = async (so: () => Promise<boolean>) => {
  while (!(await so())) await new Promise((go) => setTimeout(go, 10))
}
