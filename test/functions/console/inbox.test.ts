import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR } from '#shared/kernel/clock.ts'
import { callbackToken, installed, member } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const page = usingReceiver()
beforeEach(async () => {
  platform.clock.advance(60_000)
  agent.answer({ kind: 'answer', status: 202 })
  page.answer({ kind: 'answer', status: 200, body: 'the page' })
  // Calls that the test before approved.
  await platform.drain()
  page.requests.length = 0
})

type App = Awaited<ReturnType<typeof installed>>
type Someone = { token: string }

const call = (person: Someone, method: string, path: string, body?: object) => {
  platform.clock.advance(1_000)
  return platform.call(method, path, { token: person.token, body })
}

/** Starts a run that asks for a call. */
const asking = async (app: App, args: object = {}) => {
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  const token = await callbackToken(platform.deps, app, run.id)
  const { body } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token,
    body: { arguments: { url: page.url, method: 'POST', ...args } },
  })
  return { run_id: run.id as string, step_id: body.step_id as string, token }
}

const inbox = async (person: Someone) => (await call(person, 'GET', '/console/inbox')).body.items

const shaOf = async (person: Someone, { run_id, step_id }: { run_id: string; step_id: string }) =>
  (await call(person, 'GET', `/console/runs/${run_id}/steps/${step_id}/approval`)).body.arguments.sha256

describe('GET /console/inbox', () => {
  it('has approvals, questions, and tasks that need a person, first what expires', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { body: task } = await call(app.person, 'POST', '/console/tasks', {
      title: 'Count the mugs',
      installation_id: app.installation.id,
    })
    const report = { text: 'Twelve.' }
    await platform.call('POST', `/api/v1/tasks/${task.id}/report`, { token: app.token, body: report })
    const approval = await asking(app)
    platform.clock.advance(1_000)
    const other = await asking(app)
    await platform.call('POST', `/api/v1/runs/${other.run_id}/input-requests`, {
      token: other.token,
      body: { input_requests: { shelf: { message: 'Which shelf?' } } },
    })
    const items = await inbox(app.person)
    expect(items.map(({ kind, id }: { kind: string; id: string }) => [kind, kind === 'question' ? '' : id])).toEqual([
      ['approval', approval.step_id],
      ['approval', other.step_id],
      ['question', ''],
      ['task', task.id],
    ])
    expect(items[0]).toMatchObject({ run_id: approval.run_id, agent: { name: app.app.name }, tool: 'http_fetch' })
    expect(items[0].title).toContain('POST to 127.0.0.1')
    expect(items[0].bundle).toBe(items[1].bundle)
    expect(items[2].title).toBe('Which shelf?')
    expect(items[3].status).toBe('review')
    const stranger = await installed(platform.deps)
    expect(await inbox(stranger.person)).toEqual([])
  })

  it('tells calls apart by the agent’s reason, and what is the person’s own from what waits for anybody', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const colleague = await member(platform.deps, app.workspaceId, 'member')
    const { body: task } = await call(app.person, 'POST', '/console/tasks', {
      title: 'Pay',
      installation_id: app.installation.id,
    })
    const { body: handed } = await call(app.person, 'POST', `/console/tasks/${task.id}/run`, {})
    await platform.drain()
    const token = await callbackToken(platform.deps, app, handed.run_id)
    await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
      token,
      body: { arguments: { url: `${page.url}/pay`, method: 'POST' }, reason: 'The invoice is due.' },
    })
    expect(await inbox(app.person)).toMatchObject([{ kind: 'approval', reason: 'The invoice is due.', is_yours: true }])
    expect(await inbox(colleague)).toMatchObject([{ kind: 'approval', is_yours: false }])
  })

  it('shows the amount that a call names, unless receivers may read different ones', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const headers = { 'content-type': 'application/json' }
    const amountOf = async (args: object) => {
      const { step_id } = await asking(app, args)
      return (await inbox(app.person)).find(({ id }: { id: string }) => id === step_id).amount
    }
    const invoice = JSON.stringify({ customer: 'Ada', total: 1240.5, currency: 'eur' })
    expect(await amountOf({ headers, body: invoice })).toEqual({ field: 'total', value: 1240.5, currency: 'EUR' })
    expect(await amountOf({ url: `${page.url}?amount=7` })).toEqual({ field: 'amount', value: 7, currency: null })
    expect(await amountOf({ headers, body: '{"amount": 1, "Amount": 900}' })).toBeNull()
    expect(await amountOf({ headers, body: '{"text": "amount 3"}' })).toBeNull()
    expect(await amountOf({})).toBeNull()
  })

  it('hides what is snoozed until then, only for the person', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const colleague = await member(platform.deps, app.workspaceId, 'member')
    const { step_id } = await asking(app)
    const until = new Date(platform.clock.now() + HOUR).toISOString()
    expect((await call(app.person, 'PUT', '/console/inbox/snoozes', { ids: [step_id], until })).status).toBe(200)
    expect(Date.parse((await inbox(app.person))[0].snoozed_until)).toBe(Date.parse(until))
    expect((await inbox(colleague))[0].snoozed_until).toBeNull()
    await call(app.person, 'PUT', '/console/inbox/snoozes', { ids: [step_id], until: null })
    expect((await inbox(app.person))[0].snoozed_until).toBeNull()
    await call(app.person, 'PUT', '/console/inbox/snoozes', { ids: [step_id], until })
    platform.clock.advance(2 * HOUR)
    expect((await inbox(app.person))[0].snoozed_until).toBeNull()
  })
})

describe('POST /console/approvals/decisions', () => {
  it('approves identical calls together, each once and with a receipt of its own', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const calls = [await asking(app), await asking(app)]
    const arguments_sha256 = await shaOf(app.person, calls[0] as (typeof calls)[0])
    const places = calls.map(({ run_id, step_id }) => ({ run_id, step_id }))
    const body = { decision: 'approve', arguments_sha256, calls: places }
    const { body: done } = await call(app.person, 'POST', '/console/approvals/decisions', body)
    expect(done.results).toMatchObject([
      { status: 'running', error: null },
      { status: 'running', error: null },
    ])
    await platform.drain()
    expect(page.requests).toHaveLength(2)
    const { body: again } = await call(app.person, 'POST', '/console/approvals/decisions', body)
    expect(again.results.map(({ error }: { error: { code: string } }) => error.code)).toEqual([
      'approval_already_decided',
      'approval_already_decided',
    ])
    const { body: audit } = await call(app.person, 'GET', '/console/audit?action=approval.approved')
    expect(
      new Set(audit.items.map(({ details }: { details: { receipt_id: string } }) => details.receipt_id)).size,
    ).toBe(2)
  })

  it('approves no call with other arguments than those that were read', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const [read, other] = [await asking(app), await asking(app, { body: 'something else' })]
    const calls = [read, other].map(({ run_id, step_id }) => ({ run_id, step_id }))
    const arguments_sha256 = await shaOf(app.person, read)
    const { body } = await call(app.person, 'POST', '/console/approvals/decisions', {
      decision: 'approve',
      arguments_sha256,
      calls,
    })
    expect(body.results).toMatchObject([{ status: 'running' }, { status: null, error: { code: 'conflict' } }])
    await platform.drain()
    expect(page.requests).toHaveLength(1)
    const unread = await call(app.person, 'POST', '/console/approvals/decisions', { decision: 'approve', calls })
    expect(unread.body.error.code).toBe('validation_error')
  })

  it('approves no calls of several agents together, and asks the workspace’s rules for each', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const other = await installed(platform.deps, { endpoint: agent.url, workspaceId: app.workspaceId })
    const colleague = await member(platform.deps, app.workspaceId, 'member')
    const [one, two] = [await asking(app), await asking(other)]
    const calls = [one, two].map(({ run_id, step_id }) => ({ run_id, step_id }))
    const body = { decision: 'approve', arguments_sha256: await shaOf(colleague, one), calls }
    const mixed = await call(colleague, 'POST', '/console/approvals/decisions', body)
    expect(mixed.body.error.code).toBe('validation_error')
    await call(app.person, 'PUT', '/console/settings/approvals', {
      rules: [{ name: 'All', approvers: { role: 'owner' } }],
    })
    const own = { ...body, calls: calls.slice(0, 1) }
    const { body: refused } = await call(colleague, 'POST', '/console/approvals/decisions', own)
    expect(refused.results[0].error.code).toBe('forbidden')
    await platform.drain()
    expect(page.requests).toHaveLength(0)
    const { body: rejected } = await call(colleague, 'POST', '/console/approvals/decisions', {
      decision: 'reject',
      calls,
    })
    expect(rejected.results).toMatchObject([{ status: 'running' }, { status: 'running' }])
  })
})
