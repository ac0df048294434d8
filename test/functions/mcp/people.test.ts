import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { HostGrantEntity } from '#shared/access/hosts/index.ts'
import { MemberEntity, WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { HOST_SCOPES } from '#shared/kernel/host-resources.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { dieAtEach, recover } from '#test/faults/die-at-each.ts'
import { member } from '#testkit/fixtures.ts'
import { hostToken } from '#testkit/hosts.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, type Execute, usingAgents } from '../api/agents-support.ts'
import { createClient, declaring, STREAMING } from './mcp-support.ts'

const platform = usingPlatform({ RESPONSE_MODE: 'stream' })
const agents = usingAgents(platform)

const LOOK = { name: 'look', description: 'Looks.', input_schema: { type: 'object' } }

/** A person with a host, in a workspace with an agent. */
const scene = async (agent: Parameters<typeof agents.agent>[0] = {}, grant: Parameters<typeof hostToken>[2] = {}) => {
  platform.clock.advance(3_600_000)
  const target = await agents.agent({ tools: [LOOK], ...agent })
  const who = { workspaceId: target.workspaceId, userId: target.person.user.id }
  const made = await hostToken(platform.deps, who, grant)
  const client = createClient(platform, made.token)
  const call = (name: string, args: object = {}, more: Parameters<typeof client.modern>[2] = {}) =>
    client.modern('tools/call', { name, arguments: args }, more)
  const look = `${target.slug}__look`
  return { target, who, ...made, client, call, look }
}

const challengeOf = ({ headers }: { headers: Record<string, unknown> }): string => String(headers['www-authenticate'])
const metadata = (path: string) => `${platform.settings.baseUrl}/.well-known/oauth-protected-resource${path}`

describe('signing in', () => {
  it('begins with a challenge that leads to the document of the resource', async () => {
    const { client, target } = await scene()
    for (const path of ['/mcp', `/mcp/agents/${target.slug}`]) {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
      const without = await platform.call('POST', path, { body })
      expect(without.status).toBe(401)
      expect(challengeOf(without)).toBe(
        `Bearer resource_metadata="${metadata(path)}", scope="${HOST_SCOPES.join(' ')}"`,
      )
      const invalid = await client.post(body, { path, token: 'nonsense' })
      expect(challengeOf(invalid)).toMatch(/^Bearer error="invalid_token", resource_metadata=/)
      const document = await platform.call('GET', new URL(metadata(path)).pathname)
      expect(document.body).toMatchObject({
        resource: `${platform.settings.baseUrl}${path}`,
        authorization_servers: [`${platform.settings.baseUrl}/connect`],
        scopes_supported: HOST_SCOPES,
      })
    }
    expect((await platform.call('GET', '/.well-known/oauth-protected-resource/mcp/agents/NO')).status).toBe(404)
  })

  it('for one agent doesn’t open the others', async () => {
    const { target, who } = await scene()
    const path = `/mcp/agents/${target.slug}`
    const { token } = await hostToken(platform.deps, who, { resource: path })
    const client = createClient(platform, token)
    expect((await client.modern('tools/list', {}, { path })).body.result.tools.map((one: Tool) => one.name)).toEqual([
      'look',
    ])
    expect((await client.modern('tools/list')).status).toBe(401)
    expect((await client.modern('tools/list', {}, { path: '/mcp/agents/other' })).status).toBe(401)
  })
})

interface Tool {
  name: string
  description: string
}

describe('a person’s tools', () => {
  it('are what a member may do in the console, and the agents’, and nothing that decides or administers', async () => {
    const { client, look } = await scene()
    const { tools } = (await client.modern('tools/list')).body.result
    expect(tools.map(({ name }: Tool) => name)).toEqual([
      'workspace_info',
      'list_agents',
      'list_runs',
      'get_run',
      'list_tasks',
      'create_task',
      'delegate_task',
      'list_files',
      'save_file',
      'message_agent',
      'list_schedules',
      'create_schedule',
      look,
    ])
    expect(tools.at(-1).description).toMatch(/^“.*” \(an agent of this workspace\) says: Looks\.$/)
    for (const name of ['http_fetch', 'emit_event', 'notify_user', 'ask_agent', 'ask_user'])
      expect((await client.modern('tools/call', { name, arguments: {} })).body.error.code).toBe(-32_602)
  })

  it('read and write the workspace in the person’s name, with the host in the audit', async () => {
    const { call, target, who, grant } = await scene({ scopes: ['tasks:read', 'tasks:write', 'runs:write'] })
    const info = (await call('workspace_info')).body.result
    expect(info).toMatchObject({ isError: false, structuredContent: { id: who.workspaceId } })
    const listed = (await call('list_agents')).body.result.structuredContent.agents
    expect(listed.map(({ slug }: { slug: string }) => slug)).toContain(target.slug)
    const task = (await call('create_task', { title: 'Count the mugs' })).body.result.structuredContent
    expect(task).toMatchObject({ title: 'Count the mugs', status: 'todo' })
    platform.clock.advance(1_000)
    const given = (await call('delegate_task', { agent: target.slug, title: 'Count them all' })).body.result
    expect(given.structuredContent).toMatchObject({ title: 'Count them all', run_id: expect.stringMatching(/^run_/) })
    await platform.drain()
    const run = (await call('get_run', { run_id: given.structuredContent.run_id })).body.result.structuredContent
    expect(run.trigger).toBe('task')
    expect((await agents.runOf(who.workspaceId, run.id)).actor?.id).toBe(who.userId)
    const tasks = (await call('list_tasks')).body.result.structuredContent.tasks
    expect(tasks.map(({ title }: { title: string }) => title)).toEqual(['Count them all', 'Count the mugs'])
    expect((await call('list_runs')).body.result.structuredContent.runs[0].id).toBe(run.id)
    await platform.drain()
    const entries = await platform.deps.table.query(
      AuditEntity,
      { scope: who.workspaceId },
      { limit: 100, ascending: true },
    )
    const audit = entries.items.filter(({ action }) => action === 'host.tool_called')
    expect(audit).toMatchObject([
      { actor: { type: 'user', id: who.userId }, target: { id: 'create_task' } },
      { target: { id: 'delegate_task' }, details: { via: { grant_id: grant.id, host: 'host.example' } } },
    ])
  })

  it('make one task for equal calls with one idempotency key', async () => {
    const { call } = await scene()
    const twice = { meta: { 'aip/idempotencyKey': 'once' } }
    const first = (await call('create_task', { title: 'Once' }, twice)).body.result
    const again = (await call('create_task', { title: 'Once' }, twice)).body.result
    expect(again._meta['aip/replayed']).toBe(true)
    expect(again.structuredContent.id).toBe(first.structuredContent.id)
  })

  it.each([undefined, 'key'])(
    'send the run that they start to its dispatcher, with the idempotency key %s',
    async (key) => {
      const { call, target } = await scene({ scopes: ['chat:write'] }, { scopes: [...HOST_SCOPES, 'chat:write'] })
      const meta = key === undefined ? {} : { 'aip/idempotencyKey': key }
      const { result } = (await call('message_agent', { agent: target.slug, text: 'Hello' }, { meta })).body
      const data = expect.stringContaining(result.structuredContent.run_id)
      const started = expect.objectContaining({ kind: 'start', event: expect.objectContaining({ data }) })
      expect(platform.messages).toContainEqual(expect.objectContaining({ queue: 'dispatch', body: started }))
    },
  )

  it('ask for a new consent with every scope if one is missing, and don’t if an admin denied it', async () => {
    const { call, client, who, target } = await scene({ scopes: ['chat:read', 'chat:write'] })
    const said = { agent: target.slug, text: 'Hello' }
    const refused = await call('message_agent', said)
    expect(refused.status).toBe(403)
    expect(challengeOf(refused)).toBe(
      `Bearer error="insufficient_scope", scope="${[...HOST_SCOPES, 'chat:write'].join(' ')}", resource_metadata="${metadata('/mcp')}"`,
    )
    const { token } = await hostToken(platform.deps, who, { scopes: [...HOST_SCOPES, 'chat:write'] })
    const posted = await client.modern('tools/call', { name: 'message_agent', arguments: said }, { token })
    expect(posted.body.result.structuredContent).toMatchObject({ text: 'Hello', run_id: expect.any(String) })
    const { table } = platform.deps
    await table.transact([WorkspaceEntity.update({ id: who.workspaceId }, { set: { denied_scopes: ['chat:write'] } })])
    const denied = await call('message_agent', said)
    expect(denied.body.error.data.code).toBe('scope_denied_by_admin')
    expect(denied.headers['www-authenticate']).toBeUndefined()
    expect((await client.modern('tools/list')).body.result.tools.map(({ name }: Tool) => name)).not.toContain(
      'message_agent',
    )
  })
})

describe('schedules of a person’s host', () => {
  const WEEKLY = { name: 'Week', start: { tool: 'look', arguments: {} }, when: { every: 'P7D' } }
  const titles = (schedules: { name: string }[]) => schedules.map(({ name }) => name)

  it('start runs in the person’s name from then on, and the model is told so', async () => {
    const { call, client, target, who, grant } = await scene()
    const { tools } = (await client.modern('tools/list')).body.result
    const { description } = tools.find(({ name }: Tool) => name === 'create_schedule')
    expect(description).toMatch(/starts them without asking you, until somebody pauses it.*budgets/)
    const { structuredContent } = (await call('create_schedule', { agent: target.slug, ...WEEKLY })).body.result
    expect(structuredContent).toMatchObject({
      id: expect.stringMatching(/^sch_/),
      created_by: { type: 'user', id: who.userId },
      next_times: { length: 5 },
    })
    platform.clock.advance(7 * 86_400_000)
    await platform.sweep()
    await platform.drain()
    expect(await agents.runsOf(target)).toMatchObject([
      { trigger: 'schedule', actor: { id: who.userId }, tool: 'look' },
    ])
    const { items } = await platform.deps.table.query(AuditEntity, { scope: who.workspaceId }, { limit: 100 })
    expect(items.filter(({ action }) => action === 'host.tool_called')).toMatchObject([
      { target: { id: 'create_schedule' }, details: { via: { grant_id: grant.id } } },
    ])
  })

  it('are the member’s own, and all for an admin', async () => {
    const { call, target, who } = await scene()
    const colleague = await member(platform.deps, who.workspaceId, 'member')
    const theirs = createClient(platform, (await hostToken(platform.deps, { ...who, userId: colleague.user.id })).token)
    const listed = async (args: object = {}) => {
      const { body } = await theirs.modern('tools/call', { name: 'list_schedules', arguments: args })
      return titles(body.result.structuredContent.schedules)
    }
    const args = { agent: target.slug, ...WEEKLY, name: 'Member’s' }
    await theirs.modern('tools/call', { name: 'create_schedule', arguments: args })
    platform.clock.advance(1_000)
    await call('create_schedule', { agent: target.slug, ...WEEKLY, name: 'Owner’s' })
    expect(await listed({ limit: 1 })).toEqual(['Member’s'])
    expect(await listed({ status: 'paused' })).toEqual([])
    const all = (await call('list_schedules', { agent: target.slug })).body.result.structuredContent.schedules
    expect(titles(all)).toEqual(['Owner’s', 'Member’s'])
  })

  it('are one for equal calls with one idempotency key, wherever the first dies', async () => {
    await dieAtEach(platform, { limit: 100, stride: 5 }, async (n, dying) => {
      const { call, target } = await scene()
      const once = { meta: { 'aip/idempotencyKey': 'weekly' } }
      const create = () => call('create_schedule', { agent: target.slug, ...WEEKLY }, once)
      await dying(create, () => platform.drain())
      await recover(platform, 200_000)
      const { structuredContent } = (await create()).body.result
      const { schedules } = (await call('list_schedules')).body.result.structuredContent
      expect(schedules, `killed after call ${n}`).toMatchObject([{ id: structuredContent.id }])
    })
  })

  it('send messages only with the scope that a message needs', async () => {
    const { call, client, target, who } = await scene()
    const args = { agent: target.slug, ...WEEKLY, start: { message: 'Sum up the week.' } }
    const refused = await call('create_schedule', args)
    expect(refused.status).toBe(403)
    expect(challengeOf(refused)).toContain(`scope="${[...HOST_SCOPES, 'chat:write'].join(' ')}"`)
    const { token } = await hostToken(platform.deps, who, { scopes: [...HOST_SCOPES, 'chat:write'] })
    const { body } = await client.modern('tools/call', { name: 'create_schedule', arguments: args }, { token })
    expect(body.result.structuredContent).toMatchObject({ is_private: true, start: args.start })
  })

  it('say which field is wrong', async () => {
    const { call, target } = await scene()
    const when = { cron: '0 9 * * MON', time_zone: 'Europe/Atlantis' }
    const { result } = (await call('create_schedule', { agent: target.slug, ...WEEKLY, when })).body
    expect(result).toMatchObject({ isError: true })
    expect(result.content[0].text).toMatch(/when\.time_zone must be the name of a time zone/)
  })
})

describe('a person’s call of an agent', () => {
  it('is a run of theirs at depth 0, whatever agents may do among themselves', async () => {
    const { call, look, who, target, grant } = await scene()
    const { table } = platform.deps
    await table.transact([WorkspaceEntity.update({ id: who.workspaceId }, { set: { cross_agent_enabled: false } })])
    const { result } = (await call(look, { sku: 'mug' })).body
    expect(result).toMatchObject({ isError: false, _meta: { 'aip/untrusted': true, 'aip/chain_depth': 0 } })
    const run = await agents.runOf(who.workspaceId, result._meta['aip/run_id'])
    expect(run).toMatchObject({ trigger: 'mcp', protocol: 'mcp', actor: { id: who.userId }, chain_depth: 0 })
    expect(run.caller ?? null).toBeNull()
    expect(agents.received.at(-1)).toMatchObject({ actor: { id: who.userId }, caller: null, tool: 'look' })
    const audit = (await agents.audit(who.workspaceId)).filter(({ action }) => action === 'agent.called')
    expect(audit).toMatchObject([
      { actor: { type: 'user', id: who.userId }, details: { via: { grant_id: grant.id }, agent: target.slug } },
    ])
  })

  it.each([
    ['280 seconds with a stream', STREAMING, 280],
    ['115 seconds without one', {}, LIMITS.agentWait / 1_000],
  ])('waits for %s, and then gets the run, which continues', async (_wait, headers, seconds) => {
    const { call, client, look, who } = await scene({ behaviour: () => ACCEPT })
    let ahead = 0
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
    try {
      let isAnswered = false
      const before = agents.received.length
      const answer = call(look, {}, { headers }).finally(() => {
        isAnswered = true
      })
      while (agents.received.length === before) await pause(20)
      ahead += (seconds - 2) * 1_000
      // Longer than the longest pause between two looks at the run.
      await pause(500)
      expect(isAnswered).toBe(false)
      ahead += 3_000
      const { structuredContent } = (await answer).body.result
      expect(structuredContent).toMatchObject({ status: 'running', run_id: expect.stringMatching(/^run_/) })
      expect((await agents.runOf(who.workspaceId, structuredContent.run_id)).status).toBe('running')
      const { callback, run } = agents.received.at(-1) as Execute
      const body = { status: 'succeeded', output: { late: true } }
      await platform.call('POST', `/api/v1/runs/${run.id}/complete`, { token: callback.token, body })
      const read = await client.modern('tools/call', { name: 'get_run', arguments: { run_id: run.id } })
      expect(read.body.result.structuredContent).toMatchObject({ status: 'succeeded', output: { late: true } })
    } finally {
      clock.mockRestore()
    }
  })

  it('can be a task, which only this person with this host reads, also after a new consent', async () => {
    const { call, client, look, who } = await scene({ tools: [{ ...LOOK, mcp: { task: 'always' } }] })
    const asTask = { meta: declaring({}, true) }
    const { taskId } = (await call(look, {}, asTask)).body.result
    await platform.drain()
    const read = async (token?: string) =>
      (await client.modern('tasks/get', { taskId }, { ...asTask, ...(token && { token }) })).body
    expect((await read()).result).toMatchObject({ status: 'completed', result: { isError: false } })
    const again = await hostToken(platform.deps, who)
    expect((await read(again.token)).result.status).toBe('completed')
    const elsewhere = await hostToken(platform.deps, who, {
      client: { id: 'https://other.example/client.json', name: 'Other', host: 'other.example' },
    })
    expect((await read(elsewhere.token)).error.code).toBe(-32_602)
    const colleague = await agents.team({ workspaceId: who.workspaceId })
    const other = { workspaceId: who.workspaceId, userId: colleague[0].person.user.id }
    expect((await read((await hostToken(platform.deps, other)).token)).error.code).toBe(-32_602)
  })

  it('passes the agent’s questions on, and takes the person’s answers', async () => {
    const form = {
      message: 'Which?',
      schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    }
    const { client, look } = await scene({
      resume: true,
      behaviour: ({ resume }: Execute) =>
        resume
          ? { status: 'succeeded', output: { told: resume.input } }
          : { status: 'input_required', input_requests: { which: form } },
    })
    const meta = declaring({ elicitation: {} })
    const asked = (await client.modern('tools/call', { name: look, arguments: {} }, { meta })).body.result
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: { which: { params: { message: 'Which?' } } },
    })
    const inputResponses = { which: { action: 'accept', content: { name: 'North' } } }
    const params = { name: look, arguments: {}, requestState: asked.requestState, inputResponses }
    const answered = (await client.modern('tools/call', params, { meta })).body.result
    expect(answered.structuredContent.told.which.content).toEqual({ name: 'North' })
    const other = await client.modern('tools/call', { ...params, arguments: { a: 1 } }, { meta })
    expect(other.body.error.code).toBe(-32_602)
  })

  it('that dies at any store call leaves one run that ends right, and its repeat finds it', async () => {
    await dieAtEach(platform, { limit: 200, stride: 20 }, async (n, dying) => {
      const { call, client, look, target } = await scene({ tools: [{ ...LOOK, mcp: { task: 'always' } }] })
      const sent = { meta: { ...declaring({}, true), 'aip/idempotencyKey': 'dies' } }
      await dying(
        () => call(look, {}, sent),
        () => platform.drain(),
      )
      await recover(platform, 200_000)
      const { result } = (await call(look, {}, sent)).body
      expect(result.resultType, `killed after call ${n}`).toBe('task')
      await platform.drain()
      expect(await agents.runsOf(target), `killed after call ${n}`).toHaveLength(1)
      const ended = (await client.modern('tasks/get', { taskId: result.taskId }, sent)).body.result
      expect(['completed', 'failed'], `killed after call ${n}`).toContain(ended.status)
      expect(await agents.activeRuns(target)).toBe(0)
    })
  })

  it('as a task is cancelled by the person, with the host in the audit', async () => {
    const { call, client, look, who, grant } = await scene({ tools: [{ ...LOOK, mcp: { task: 'always' } }] })
    const asTask = { meta: declaring({}, true) }
    const { taskId } = (await call(look, {}, asTask)).body.result
    for (let times = 0; times < 2; times++)
      expect((await client.modern('tasks/cancel', { taskId }, asTask)).body.result.resultType).toBe('complete')
    expect((await client.modern('tasks/get', { taskId }, asTask)).body.result.status).toBe('cancelled')
    await platform.drain()
    const page = await platform.deps.table.query(AuditEntity, { scope: who.workspaceId }, { limit: 100 })
    expect(page.items.filter(({ action }) => action === 'run.cancelled')).toMatchObject([
      { actor: { type: 'user', id: who.userId }, target: { id: taskId }, details: { via: { grant_id: grant.id } } },
    ])
  })

  it('ends with the membership, while the token is still young', async () => {
    const { client, who, call, look } = await scene()
    expect((await client.modern('tools/list')).status).toBe(200)
    const key = { workspace_id: who.workspaceId, user_id: who.userId }
    await platform.deps.table.transact([MemberEntity.delete(key)])
    expect((await client.modern('tools/list')).status).toBe(401)
    expect((await call(look)).status).toBe(401)
  })

  it('ends at once where the owner turns hosts off, or doesn’t list this one', async () => {
    const { client, who, grant } = await scene()
    const allow = (hosts: { enabled: boolean; allowed?: string[] }) =>
      platform.deps.table.transact([WorkspaceEntity.update({ id: who.workspaceId }, { set: { hosts } })])
    const status = async () => (await client.modern('tools/list')).status
    await allow({ enabled: false })
    expect(await status()).toBe(401)
    await allow({ enabled: true, allowed: ['other.example'] })
    expect(await status()).toBe(401)
    await allow({ enabled: true, allowed: ['host.example'] })
    expect(await status()).toBe(200)
    await platform.deps.table.transact([HostGrantEntity.update(grant, { set: { status: 'revoked' }, list: null })])
    expect(await status()).toBe(401)
  })

  it('decides nothing: no tool, method or task of a person approves a call', async () => {
    const { client } = await scene()
    const { tools } = (await client.modern('tools/list')).body.result
    expect(tools.map(({ name }: Tool) => name).join(' ')).not.toMatch(/approv|decid|install|member|polic|setting|grant/)
  })
})
