import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HostGrantEntity } from '#shared/access/hosts/index.ts'
import { A2aPushEntity } from '#shared/agents/a2a/entity.ts'
import { type A2aScene, waitForTask } from '#shared/agents/a2a/index.ts'
import type { StreamResponse } from '#shared/http/response.ts'
import { MemberEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { HOST_SCOPES } from '#shared/kernel/host-resources.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { hostToken } from '#testkit/hosts.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { answerJson } from '../../../functions/a2a/support/respond.ts'
import { ACCEPT, type Execute, succeedsWith, usingAgents } from '../api/agents-support.ts'
import { conversation, look, saying } from './a2a-support.ts'

const platform = usingPlatform({ RESPONSE_MODE: 'stream' })
const agents = usingAgents(platform)
const receiver = usingReceiver()

/** A person with a client, and an agent in their workspace. */
const scene = async (
  behaviour: Parameters<typeof conversation>[2] = succeedsWith({ found: 3 }),
  grant: Parameters<typeof hostToken>[2] = {},
) => {
  const { target, at, rpc, rest } = await conversation(platform, agents, behaviour)
  const who = { workspaceId: target.workspaceId, userId: target.person.user.id }
  const { token, grant: given } = await hostToken(platform.deps, who, { resource: '/a2a', ...grant })
  const call = (method: string, params: object, more: Parameters<typeof rpc>[2] = {}) =>
    rpc(method, params as Record<string, unknown>, { token, ...more })
  const working = (method: string, params: object) => agents.whileWorking(() => call(method, params))
  const { workspaceId } = who
  const change = (set: object) => platform.deps.table.transact([WorkspaceEntity.update({ id: workspaceId }, { set })])
  return { target, at, who, token, grant: given, call, working, rest, change }
}

const audited = async (workspaceId: string, ...actions: string[]) => {
  await platform.drain()
  const page = await platform.deps.table.query(AuditEntity, { scope: workspaceId }, { limit: 100, ascending: true })
  return page.items.filter(({ action }) => actions.includes(action))
}

const challengeOf = ({ headers }: { headers: Record<string, unknown> }): string => String(headers['www-authenticate'])
const METADATA = 'https://platform.test/.well-known/oauth-protected-resource/a2a'

const form = {
  message: 'Which?',
  schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
}
const asks = ({ resume }: Execute) =>
  resume
    ? { status: 'succeeded', output: { told: resume.input } }
    : { status: 'input_required', input_requests: { which: form } }

describe('signing in', () => {
  it('begins with a challenge that leads to the document of all agents over A2A', async () => {
    const { at, call } = await scene()
    const body = { jsonrpc: '2.0', id: 1, method: 'ListTasks' }
    const without = await platform.call('POST', `${at}/rpc`, { body })
    expect(without.status).toBe(401)
    expect(challengeOf(without)).toBe(`Bearer resource_metadata="${METADATA}", scope="${HOST_SCOPES.join(' ')}"`)
    const invalid = await call('ListTasks', {}, { token: 'nonsense' })
    expect(challengeOf(invalid)).toMatch(/^Bearer error="invalid_token", resource_metadata=/)
    const { body: document } = await platform.call('GET', new URL(METADATA).pathname)
    expect(document).toMatchObject({
      resource: 'https://platform.test/a2a',
      authorization_servers: ['https://platform.test/connect'],
    })
  })

  it('for A2A doesn’t open the MCP server or the API, and a token of theirs doesn’t open A2A', async () => {
    const { at, who, token } = await scene()
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    expect((await platform.call('POST', '/mcp', { token, body })).status).toBe(401)
    expect((await platform.call('GET', '/api/v1/runs', { token })).status).toBe(401)
    const other = await hostToken(platform.deps, who)
    const headers = { 'a2a-version': '1.0' }
    const refused = await platform.call('GET', `${at}/tasks`, { token: other.token, headers })
    expect(refused.status).toBe(401)
  })
})

describe('a person’s message', () => {
  it('is a run of theirs at depth 0, whatever agents may do among themselves, with the client in the audit', async () => {
    const { working, change, target, who, grant } = await scene()
    await change({ cross_agent_enabled: false })
    await target.set({ allowed_callers: [] })
    const { task } = (await working('SendMessage', look({ n: 1 }))).body.result
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ data: { found: 3 } }] }],
      metadata: { 'aip/untrusted': true, 'aip/chain_depth': 0 },
    })
    const run = await agents.runOf(who.workspaceId, task.id)
    expect(run).toMatchObject({ trigger: 'a2a', protocol: 'a2a', actor: { id: who.userId }, chain_depth: 0 })
    const execute = agents.received.find((one) => one.run.id === task.id)
    expect(execute).toMatchObject({ actor: { id: who.userId }, caller: null, tool: 'look' })
    expect(await audited(who.workspaceId, 'agent.called')).toMatchObject([
      {
        actor: { type: 'user', id: who.userId },
        details: { via: { grant_id: grant.id, host: 'host.example' }, agent: target.slug },
      },
    ])
  })

  it('may be any text, streams, and is answered once for a repeated messageId', async () => {
    const { working, call, rest, token } = await scene()
    const message = saying('How many?')
    const first = (await working('SendMessage', message)).body.result.task
    const execute = agents.received.find(({ run }) => run.id === first.id)
    expect(execute).toMatchObject({ message: { parts: [{ text: 'How many?' }] } })
    expect((await call('SendMessage', message)).body.result.task.id).toBe(first.id)
    const streamed = await call('SendStreamingMessage', look())
    expect(streamed.text).toContain('TASK_STATE_SUBMITTED')
    const listed = (await rest('GET', '/tasks', undefined, token)).body.tasks
    expect(listed).toHaveLength(2)
    expect(listed.map(({ id }: { id: string }) => id)).toContain(first.id)
  })

  it('waits for 280 seconds, and then gets the current task, which continues', async () => {
    const { call, who } = await scene(() => ACCEPT)
    const configuration = { returnImmediately: true }
    const { id } = (await call('SendMessage', { ...look(), configuration })).body.result.task
    await platform.drain()
    // Runs of earlier tests may be sent to their agents now, too.
    const { callback } = agents.received.find(({ run }) => run.id === id)
    const client = { kind: 'person' } as A2aScene['client']
    let isAnswered = false
    const run = await agents.runOf(who.workspaceId, id)
    const waited = waitForTask(platform.deps as never, { client } as A2aScene, run).finally(() => {
      isAnswered = true
    })
    platform.clock.advance(279 * SECOND)
    // Longer than the longest pause between two looks at the run.
    await pause(500)
    expect(isAnswered).toBe(false)
    platform.clock.advance(2 * SECOND)
    expect((await waited).status).toBe('running')
    const body = { status: 'succeeded', output: { late: true } }
    await platform.call('POST', `/api/v1/runs/${id}/complete`, { token: callback.token, body })
    expect((await call('GetTask', { id })).body.result.status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('answers a question of its task, with the client in the audit', async () => {
    const { working, call, who, grant } = await scene(asks)
    const { task } = (await working('SendMessage', look())).body.result
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED')
    const answer = { taskId: task.id, parts: [{ data: { which: { name: 'North' } } }] }
    const answered = (await working('SendMessage', look({}, answer))).body.result.task
    expect(answered.artifacts[0].parts[0].data.told.which.content).toEqual({ name: 'North' })
    expect(await audited(who.workspaceId, 'run.answered')).toMatchObject([
      { actor: { type: 'user', id: who.userId }, details: { via: { grant_id: grant.id } } },
    ])
    expect((await call('GetTask', { id: task.id })).body.result.status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('is cancelled by the person, with the client in the audit', async () => {
    const { call, who, grant } = await scene(() => ACCEPT)
    const configuration = { returnImmediately: true }
    const { task } = (await call('SendMessage', { ...look(), configuration })).body.result
    const cancelled = (await call('CancelTask', { id: task.id })).body.result
    expect(cancelled.status.state).toBe('TASK_STATE_CANCELED')
    expect((await call('CancelTask', { id: task.id })).body.error.code).toBe(-32_002)
    expect(await audited(who.workspaceId, 'run.cancelled')).toMatchObject([
      { actor: { id: who.userId }, target: { id: task.id }, details: { via: { grant_id: grant.id } } },
    ])
  })

  it('makes a task that nobody else reads: not another client of theirs, another person, or an agent', async () => {
    const { call, who, target } = await scene()
    const [caller] = await agents.team({ workspaceId: who.workspaceId })
    const configuration = { returnImmediately: true }
    const { id } = (await call('SendMessage', { ...look(), configuration })).body.result.task
    expect((await call('GetTask', { id })).body.result.id).toBe(id)
    const again = await hostToken(platform.deps, who, { resource: '/a2a' })
    expect((await call('GetTask', { id }, { token: again.token })).body.result.id).toBe(id)
    const client = { id: 'https://other.example/client.json', name: 'Other', host: 'other.example' }
    const elsewhere = await hostToken(platform.deps, who, { resource: '/a2a', client })
    const colleague = { workspaceId: who.workspaceId, userId: caller.person.user.id }
    const other = await hostToken(platform.deps, colleague, { resource: '/a2a' })
    for (const token of [elsewhere.token, other.token, caller.token])
      for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
        expect((await call(method, { id }, { token })).body.error.code, method).toBe(-32_001)
    expect(target.workspaceId).toBe(who.workspaceId)
    const stranger = await scene()
    expect((await call('SendMessage', look(), { token: stranger.token })).status).toBe(404)
  })
})

describe('a person’s power', () => {
  it.each([
    ['SendMessage', 'runs:write'],
    ['CancelTask', 'runs:write'],
    ['ListTasks', 'runs:read'],
    ['GetExtendedAgentCard', 'runs:read'],
  ])('%s needs the scope %s, and asks for a consent with it', async (method, scope) => {
    const { call } = await scene(undefined, { scopes: ['agents:read'] })
    const refused = await call(method, method === 'SendMessage' ? look() : { id: 'x' })
    expect(refused.status).toBe(403)
    expect(challengeOf(refused)).toBe(
      `Bearer error="insufficient_scope", scope="agents:read ${scope}", resource_metadata="${METADATA}"`,
    )
  })

  it('needs the scope over HTTP+JSON as well, and no consent helps against a ban', async () => {
    const { rest, token, change } = await scene(undefined, { scopes: ['agents:read'] })
    const refused = await rest('GET', '/tasks', undefined, token)
    expect([refused.status, challengeOf(refused)]).toEqual([
      403,
      expect.stringContaining('scope="agents:read runs:read"'),
    ])
    await change({ denied_scopes: ['runs:read'] })
    const denied = await rest('POST', '/message:send', look(), token)
    expect([denied.status, denied.headers['www-authenticate']]).toEqual([403, undefined])
    expect(denied.text).toContain('SCOPE_DENIED_BY_ADMIN')
  })

  it('ends at once with the membership, the grant and the owner’s permission', async () => {
    const { call, who, grant, change } = await scene()
    const status = async () => (await call('ListTasks', {})).status
    expect(await status()).toBe(200)
    await change({ hosts: { enabled: true, allowed: ['other.example'] } })
    expect(await status()).toBe(401)
    await change({ hosts: { enabled: true, allowed: ['host.example'] } })
    expect(await status()).toBe(200)
    await platform.deps.table.transact([HostGrantEntity.update(grant, { set: { status: 'revoked' }, list: null })])
    expect(await status()).toBe(401)
    const again = await hostToken(platform.deps, who, { resource: '/a2a' })
    expect((await call('ListTasks', {}, { token: again.token })).status).toBe(200)
    await platform.deps.table.transact([MemberEntity.delete({ workspace_id: who.workspaceId, user_id: who.userId })])
    expect((await call('ListTasks', {}, { token: again.token })).status).toBe(401)
  })

  it('decides nothing: a task that waits for a decision can’t be answered', async () => {
    const approving = async (execute: Execute) => {
      const { run, callback } = execute
      const body = { arguments: { url: 'https://shop.example/order', method: 'POST' }, run_id: run.id }
      await platform.call('POST', '/api/v1/tools/http_fetch/invoke', { token: callback.token, body })
      return ACCEPT
    }
    const { working, call } = await scene(approving)
    const { task } = (await working('SendMessage', look())).body.result
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
    for (const parts of [[{ text: 'approve' }], [{ data: { approve: { decision: 'approve' } } }]])
      expect((await call('SendMessage', look({}, { taskId: task.id, parts }))).body.error.code).toBe(-32_004)
    expect((await call('GetTask', { id: task.id })).body.result.status.state).toBe('TASK_STATE_AUTH_REQUIRED')
  })
})

describe('push notifications of a person’s task', () => {
  it('come while they may read the task, and end with their access', async () => {
    receiver.answer({ kind: 'answer' })
    const { call, who } = await scene(() => ACCEPT)
    const taskPushNotificationConfig = { url: `${receiver.url}/push`, token: 'tell-me' }
    const configuration = { returnImmediately: true, taskPushNotificationConfig }
    const { id } = (await call('SendMessage', { ...look(), configuration })).body.result.task
    await platform.drain()
    const states = () => receiver.requests.map(({ body }) => JSON.parse(body.toString()).statusUpdate.status.state)
    expect(states()).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'])
    expect(receiver.requests[0]?.headers['x-a2a-notification-token']).toBe('tell-me')
    await platform.deps.table.transact([MemberEntity.delete({ workspace_id: who.workspaceId, user_id: who.userId })])
    platform.clock.advance(MINUTE)
    await platform.drain()
    const { callback } = agents.received.find(({ run }) => run.id === id)
    const body = { status: 'succeeded', output: {} }
    await platform.call('POST', `/api/v1/runs/${id}/complete`, { token: callback.token, body })
    await platform.drain()
    expect(states()).toHaveLength(2)
    expect((await platform.deps.table.query(A2aPushEntity, { run_id: id }, { limit: 5 })).items).toEqual([])
  })
})

describe('a slow answer to a person', () => {
  const asking = { work: { settings: { streaming: true } }, caller: { kind: 'person' }, headers: {} } as never
  const silence = () => vi.advanceTimersByTimeAsync(LIMITS.streamSilence)
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })
  /** Asks, and waits for one silence. */
  const begun = async (answer: Promise<Record<string, unknown>>) => {
    const response = answerJson(asking, answer)
    await silence()
    return (await response) as StreamResponse
  }

  it('begins with white space after 4 seconds of silence, and has more after each further one', async () => {
    const answer = Promise.withResolvers<Record<string, unknown>>()
    const response = await begun(answer.promise)
    const pieces: string[] = []
    for await (const piece of response.pieces(new AbortController().signal)) {
      pieces.push(piece)
      if (pieces.length === 3) answer.resolve({ task: { id: 'run_1' } })
      else void silence()
    }
    expect(pieces.slice(0, 3)).toEqual([' ', ' ', ' '])
    expect(JSON.parse(pieces.join(''))).toEqual({ task: { id: 'run_1' } })
  })

  it('breaks off if it fails after that, and has a status if it fails before', async () => {
    const answer = Promise.withResolvers<Record<string, unknown>>()
    const response = await begun(answer.promise)
    const read = async () => {
      for await (const _piece of response.pieces(new AbortController().signal)) answer.reject(new Error('gone'))
    }
    await expect(read()).rejects.toThrow('gone')
    await expect(answerJson(asking, Promise.reject(new Error('at once')))).rejects.toThrow('at once')
  })

  it('ends when the client has closed the connection', async () => {
    const close = new AbortController()
    const response = await begun(new Promise(() => {}))
    const pieces: string[] = []
    for await (const piece of response.pieces(close.signal)) {
      pieces.push(piece)
      close.abort()
    }
    expect(pieces).toEqual([' '])
    expect(vi.getTimerCount()).toBe(0)
  })
})
