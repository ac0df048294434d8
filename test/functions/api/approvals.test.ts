import { beforeEach, describe, expect, it } from 'vitest'
import { callbackToken, installed, member } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const page = usingReceiver()
beforeEach(() => {
  platform.clock.advance(3_600_000)
  agent.requests.length = 0
  page.requests.length = 0
  agent.answer({ kind: 'answer', status: 202 })
  page.answer({ kind: 'answer', status: 200, body: 'the page' })
})

/** Starts a run whose agent may call tools. */
const running = async (options: Parameters<typeof installed>[1] = {}) => {
  const app = await installed(platform.deps, { endpoint: agent.url, ...options })
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  const token = await callbackToken(platform.deps, app, run.id)
  const invoke = (name: string, args: unknown, more: object = {}) =>
    platform.call('POST', `/api/v1/tools/${name}/invoke`, { token, body: { arguments: args, ...more } })
  const decide = (step: string, decision: string, person = app.person.token) =>
    platform.call('POST', `/console/runs/${run.id}/steps/${step}/decision`, { token: person, body: { decision } })
  const read = async () => (await platform.call('GET', `/console/runs/${run.id}`, { token: app.person.token })).body
  return { app, run, token, invoke, decide, read }
}

describe('a dangerous call', () => {
  it('waits for a person, is executed once approved, and returns its result once', async () => {
    const { invoke, decide, read } = await running()
    const args = { url: `${page.url}/x` }
    const asked = await invoke('http_fetch', args)
    expect(asked.body).toMatchObject({ status: 'awaiting_approval', tool: 'http_fetch' })
    expect(await read()).toMatchObject({
      status: 'awaiting_approval',
      steps: [{ type: 'approval', output: { arguments: args } }],
    })
    expect((await invoke('http_fetch', { url: `${page.url}/x` })).body.step_id).toBe(asked.body.step_id)
    expect(page.requests).toHaveLength(0)

    expect((await decide(asked.body.step_id, 'approve')).body.status).toBe('running')
    await platform.drain()
    expect(page.requests).toHaveLength(1)
    const result = await invoke('http_fetch', args)
    expect(result.body).toMatchObject({ status: 'ok', result: { status: 200, body: 'the page' } })
    expect((await read()).steps[0]).toMatchObject({ status: 'executed', output: { result: { body: 'the page' } } })
    expect((await invoke('http_fetch', args)).body.status).toBe('awaiting_approval')
    expect(page.requests).toHaveLength(1)
  })

  it('executes nothing when its arguments differ from the approved ones', async () => {
    const { invoke, decide } = await running()
    const { body } = await invoke('http_fetch', { url: `${page.url}/good`, method: 'POST', body: 'a' })
    await decide(body.step_id, 'approve')
    await platform.drain()
    const tampered = await invoke('http_fetch', { url: `${page.url}/good`, method: 'POST', body: 'b' })
    expect(tampered.body.status).toBe('awaiting_approval')
    expect(page.requests.map(({ body: sent }) => String(sent))).toEqual(['a'])
  })

  it('is the same call when its arguments’ fields are in another order', async () => {
    const { invoke } = await running()
    const one = await invoke('http_fetch', { url: page.url, headers: { a: '1', b: '2' } })
    const two = await invoke('http_fetch', { headers: { b: '2', a: '1' }, url: page.url })
    expect(two.body.step_id).toBe(one.body.step_id)
  })

  it('is a conflict when it needs approval while another one waits', async () => {
    const { invoke } = await running()
    await invoke('http_fetch', { url: `${page.url}/1` })
    const second = await invoke('http_fetch', { url: `${page.url}/2` })
    expect([second.status, second.body.error.code]).toEqual([409, 'conflict'])
  })

  it('executes nothing once rejected, and reports that once', async () => {
    const { invoke, decide, read } = await running()
    const { body } = await invoke('http_fetch', { url: page.url })
    expect((await decide(body.step_id, 'reject')).body.status).toBe('running')
    await platform.drain()
    expect((await invoke('http_fetch', { url: page.url })).body).toEqual({
      status: 'rejected',
      tool: 'http_fetch',
      receipt: expect.any(String),
    })
    expect(page.requests).toHaveLength(0)
    expect((await read()).steps[0].status).toBe('rejected')
  })

  it('answers a second decision with approval_already_decided, and one on a finished run with run_already_finished', async () => {
    const first = await running()
    const { body } = await first.invoke('http_fetch', { url: page.url })
    const decisions = await Promise.all([first.decide(body.step_id, 'approve'), first.decide(body.step_id, 'reject')])
    expect(decisions.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await first.decide(body.step_id, 'approve')).body.error.code).toBe('approval_already_decided')

    const other = await running()
    const asked = await other.invoke('http_fetch', { url: page.url })
    await platform.call('POST', `/api/v1/runs/${other.run.id}/complete`, {
      token: other.token,
      body: { status: 'succeeded' },
    })
    expect((await other.read()).steps[0].status).toBe('voided')
    expect((await other.decide(asked.body.step_id, 'approve')).body.error.code).toBe('run_already_finished')
  })

  it('is decided by members of its workspace only', async () => {
    const { invoke, decide } = await running()
    const { body } = await invoke('http_fetch', { url: page.url })
    const stranger = await member(platform.deps, (await installed(platform.deps)).workspaceId, 'owner')
    expect((await decide(body.step_id, 'approve', stranger.token)).status).toBe(404)
    expect(page.requests).toHaveLength(0)
  })

  it('is rejected when undecided for 24 hours', async () => {
    const { app, run, invoke } = await running()
    await invoke('http_fetch', { url: page.url })
    const seen = async () => {
      const person = await member(platform.deps, app.workspaceId, 'member')
      return (await platform.call('GET', `/console/runs/${run.id}`, { token: person.token })).body
    }
    platform.clock.advance(24 * 3_600_000 - 1_000)
    await platform.sweep()
    expect((await seen()).status).toBe('awaiting_approval')
    platform.clock.advance(2_000)
    await platform.sweep()
    expect(await seen()).toMatchObject({ status: 'running', steps: [{ status: 'rejected' }] })
  })

  it('isn’t executed when it is banned between approval and execution', async () => {
    const { app, invoke, decide } = await running()
    const { body } = await invoke('http_fetch', { url: page.url })
    await decide(body.step_id, 'approve')
    const { AppEntity } = await import('#shared/catalogue/apps/entity.ts')
    await platform.deps.table.transact([AppEntity.update({ id: app.app.id }, { set: { status: 'suspended' } })])
    await platform.drain()
    expect(page.requests).toHaveLength(0)
  })

  it('is never repeated when its worker died: its outcome is unknown', async () => {
    const { invoke, decide, read } = await running()
    const { body } = await invoke('http_fetch', { url: page.url })
    await decide(body.step_id, 'approve')
    const { send } = platform.deps.http
    platform.deps.http.send = async (request) => {
      await send(request)
      throw new Error('the worker died after it had sent')
    }
    await platform.deps.bus.put(platform.outbox.splice(0))
    const [message] = platform.messages.splice(
      platform.messages.findIndex(({ queue }) => queue === 'approved-tools'),
      1,
    )
    expect(message && (await platform.deliver(message))).toBe(false)
    platform.deps.http.send = send
    expect(message && (await platform.deliver(message))).toBe(true)
    platform.clock.advance(61_000)
    await platform.sweep()
    await platform.drain()
    expect(page.requests).toHaveLength(1)
    expect((await read()).steps[0].output.result).toMatchObject({ error: 'outcome_unknown' })
  })

  it('returns a failed execution as a result, not as an error', async () => {
    const { invoke, decide } = await running()
    const { body } = await invoke('http_fetch', { url: 'http://127.0.0.1:1/' })
    await decide(body.step_id, 'approve')
    await platform.drain()
    expect((await invoke('http_fetch', { url: 'http://127.0.0.1:1/' })).body).toMatchObject({
      status: 'ok',
      result: { error: 'connect' },
    })
  })

  it('is refused at once for a blocked address or a forbidden header', async () => {
    const { invoke } = await running()
    const blocked = await invoke('http_fetch', { url: 'https://169.254.169.254/latest' })
    expect([blocked.status, blocked.body.error.code]).toEqual([422, 'blocked_target'])
    for (const name of ['Authorization', 'cookie', 'HOST', 'X-SVC-Signature', 'proxy-authorization']) {
      const answer = await invoke('http_fetch', { url: 'https://example.com/', headers: { [name]: 'x' } })
      expect(answer.body.error.details.fields[`arguments.headers.${name}`], name).toBeTruthy()
    }
  })

  it('requires a run_id when the token isn’t bound to a run', async () => {
    const { app } = await running()
    const answer = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
      token: app.token,
      body: { arguments: { url: 'https://example.com/' } },
    })
    expect([answer.status, answer.body.error.details.fields]).toEqual([422, { run_id: [expect.any(String)] }])
  })

  it('dispatches the run of an agent that resumes once more, with the decision and the result', async () => {
    const { invoke, decide, run } = await running({ resume: true })
    const { body } = await invoke('http_fetch', { url: page.url })
    await decide(body.step_id, 'approve')
    await platform.drain()
    expect(agent.requests).toHaveLength(2)
    expect(JSON.parse(String(agent.requests[1]?.body))).toMatchObject({
      run: { id: run.id },
      resume: { step_id: body.step_id, decision: 'approved', result: { body: 'the page' } },
    })
  })
})

describe('the other tools', () => {
  it('answer at once and record a step in their run', async () => {
    const { app, invoke, read } = await running()
    expect((await invoke('workspace_info', {})).body).toMatchObject({ status: 'ok', result: { id: app.workspaceId } })
    expect((await invoke('list_runs', { limit: 5 })).body.result.runs).toHaveLength(1)
    expect((await invoke('emit_event', { type: 'order.paid', data: { n: 1 } })).body.result.type).toBe(
      'custom.order.paid',
    )
    expect((await read()).steps.map((step: { tool: string }) => step.tool)).toEqual([
      'workspace_info',
      'list_runs',
      'emit_event',
    ])
  })

  it('are refused by the strongest ban first, with its reason', async () => {
    const { PlatformSettingsEntity } = await import('#shared/staff/platform/entity.ts')
    const { WorkspaceEntity } = await import('#shared/identity/people/entity.ts')
    const { InstallationEntity } = await import('#shared/access/installations/entity.ts')
    const { app, invoke } = await running()
    const { table } = platform.deps
    const reason = async () => (await invoke('workspace_info', {})).body.error?.details.reason
    const ban = ['workspace_info']
    await table.transact([InstallationEntity.update(app.installation, { set: { denied_tools: ban } })])
    expect(await reason()).toBe('installation')
    await table.transact([WorkspaceEntity.update({ id: app.workspaceId }, { set: { denied_tools: ban } })])
    expect(await reason()).toBe('organization')
    await table.transact([PlatformSettingsEntity.replace({ name: 'tools', denied_tools: ban, updated_at: 0 })])
    expect(await reason()).toBe('platform')
    await table.transact([PlatformSettingsEntity.replace({ name: 'tools', denied_tools: [], updated_at: 0 })])
    const listed = await platform.call('GET', '/api/v1/tools?all=true', { token: app.token })
    expect(listed.body.items.find(({ name }: { name: string }) => name === 'workspace_info').allowed).toBe(false)
  })

  it('answer unknown_tool, validation_error for invalid arguments, or insufficient_scope', async () => {
    const { invoke } = await running({ scopes: ['tools:invoke', 'runs:write'] })
    expect((await invoke('make_coffee', {})).body.error.code).toBe('unknown_tool')
    expect((await invoke('list_runs', { limit: 'many' })).body.error.details.fields).toHaveProperty(['arguments.limit'])
    expect((await invoke('workspace_info', {})).body.error).toMatchObject({
      code: 'insufficient_scope',
      details: { required_scope: 'workspace:read' },
    })
  })
})

describe('what people judge a call by', () => {
  const read = async ({ app, run }: Awaited<ReturnType<typeof running>>, step: string, token = app.person.token) =>
    platform.call('GET', `/console/runs/${run.id}/steps/${step}/approval`, { token })

  it('is the agent’s reason, the deadline and the call of the same kind that was approved last', async () => {
    const scene = await running()
    const { invoke, decide, app } = scene
    const post = (body: string) => invoke('http_fetch', { url: `${page.url}/x`, method: 'POST', body })
    const first = await invoke(
      'http_fetch',
      { url: `${page.url}/x`, method: 'POST', body: 'a' },
      { reason: 'The shelf is empty' },
    )
    const asked = (await read(scene, first.body.step_id)).body
    expect(asked).toMatchObject({
      reason: 'The shelf is empty',
      requested_by: null,
      last_approved: null,
      decision: null,
    })
    expect(Date.parse(asked.expires_at) - Date.parse(asked.requested_at)).toBe(86_400_000)
    await decide(first.body.step_id, 'approve')
    await platform.drain()
    const decided = (await read(scene, first.body.step_id)).body
    expect(decided).toMatchObject({ expires_at: null, decision: { by: { id: app.person.user.id }, comment: null } })

    // A rejected call isn't one to compare with, nor is one of another method.
    const rejected = await post('b')
    await decide(rejected.body.step_id, 'reject')
    const other = await invoke('http_fetch', { url: `${page.url}/x` })
    expect((await read(scene, other.body.step_id)).body.last_approved).toBeNull()
    await decide(other.body.step_id, 'approve')
    await platform.drain()

    const third = await post('c')
    expect((await read(scene, third.body.step_id)).body).toMatchObject({
      reason: null,
      last_approved: {
        step_id: first.body.step_id,
        decided_by: { id: app.person.user.id },
        text: expect.stringContaining('"body":"a"'),
      },
    })
  })
})
