import { flattenedVerify, importJWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { AppEntity } from '#shared/catalogue/apps/entity.ts'
import { SigningKeyEntity } from '#shared/foundation/signing-keys/entity.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { dieAtEach, recover } from '#test/faults/die-at-each.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, succeedsWith, usingAgents } from '../api/agents-support.ts'
import { conversation, look, saying } from './a2a-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)
const scene = (behaviour = succeedsWith({ found: 3 }) as Parameters<typeof conversation>[2]) =>
  conversation(platform, agents, behaviour)

const reasonOf = ({ body }: { body: { error: { data?: { reason: string }[]; details?: { reason: string }[] } } }) =>
  (body.error.data ?? body.error.details)?.[0]?.reason

describe('cards', () => {
  it('are public, signed over their canonical JSON with a published key, and unchanged for 304', async () => {
    const { at, target } = await scene()
    const answer = await platform.call('GET', `${at}/.well-known/agent-card.json`)
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('public, max-age=300')
    expect(answer.headers.etag).toMatch(/^W\/"/)
    const { signatures, ...card } = answer.body
    expect(card).toMatchObject({
      name: target.app.name,
      version: '1.0.0',
      capabilities: {
        streaming: true,
        pushNotifications: true,
        extendedAgentCard: true,
        extensions: [{ uri: 'https://platform.test/a2a/extensions/idempotency/v1' }],
      },
    })
    // Clients that don’t know the extension may talk to the agent as well.
    expect(card.capabilities.extensions[0]).not.toHaveProperty('required')
    expect(card.skills.map(({ id }: { id: string }) => id)).toEqual(['look', 'message'])
    expect(card.supportedInterfaces.map(({ url }: { url: string }) => url.replace(/.*ins_[^/]+/, ''))).toEqual([
      '/rpc',
      '',
      '/v0.3/rpc',
      '/v0.3',
    ])
    const jwks = await platform.call('GET', '/.well-known/jwks.json')
    const header = JSON.parse(Buffer.from(signatures[0].protected, 'base64url').toString())
    expect(header).toMatchObject({ alg: 'ES256', typ: 'JOSE', jku: 'https://platform.test/.well-known/jwks.json' })
    const jwk = jwks.body.keys.find(({ kid }: { kid: string }) => kid === header.kid)
    expect(jwk.purpose).toBe('cards')
    const [first, ...more] = card.securityRequirements
    expect(first).toEqual({ schemes: { bearer: { list: [] } } })
    const signed = { ...card, securityRequirements: more }
    const payload = Buffer.from(canonicalJson(signed)).toString('base64url')
    await flattenedVerify({ ...signatures[0], payload }, await importJWK(jwk, 'ES256'))
    const tampered = Buffer.from(canonicalJson({ ...signed, name: 'Evil' })).toString('base64url')
    await expect(
      flattenedVerify({ ...signatures[0], payload: tampered }, await importJWK(jwk, 'ES256')),
    ).rejects.toThrow()
    const again = await platform.call('GET', `${at}/.well-known/agent-card.json`, {
      headers: { 'if-none-match': String(answer.headers.etag) },
    })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  it('exist in version 0.3, by its header and at its address', async () => {
    const { at } = await scene()
    const byHeader = await platform.call('GET', `${at}/.well-known/agent-card.json`, {
      headers: { 'a2a-version': '0.3' },
    })
    const byPath = await platform.call('GET', `${at}/v0.3/.well-known/agent-card.json`)
    expect(byHeader.body).toEqual(byPath.body)
    expect(byPath.body).toMatchObject({ protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' })
    const unknown = await platform.call('GET', `${at}/.well-known/agent-card.json`, {
      headers: { 'a2a-version': '7.0' },
    })
    expect([unknown.status, reasonOf(unknown)]).toEqual([400, 'VERSION_NOT_SUPPORTED'])
  })

  it('of an app that isn’t listed show one skill, and all skills with schemas to a caller who may talk to it', async () => {
    const { at, target, rpc, rest } = await scene()
    await platform.deps.table.transact([AppEntity.update(target.app, { set: { status: 'draft' } })])
    const { body } = await platform.call('GET', `${at}/.well-known/agent-card.json`)
    expect(body.skills.map(({ id }: { id: string }) => id)).toEqual(['agent'])
    const extended = (await rpc('GetExtendedAgentCard', {})).body.result
    expect(extended.skills.map(({ id }: { id: string }) => id)).toEqual(['look', 'message'])
    const schemas = extended.capabilities.extensions.find(({ uri }: { uri: string }) => uri.includes('input-schemas'))
    expect(schemas.params.schemas.look.type).toBe('object')
    expect((await rest('GET', '/extendedAgentCard')).body.skills).toEqual(extended.skills)
    await target.set({ allowed_callers: [] })
    expect((await rest('GET', '/extendedAgentCard')).status).toBe(404)
  })

  it('don’t exist for agents that don’t work, or that declare nothing', async () => {
    const { at, target } = await scene()
    await target.set({ status: 'suspended' })
    expect((await platform.call('GET', `${at}/.well-known/agent-card.json`)).status).toBe(404)
    const silent = await installed(platform.deps)
    const path = `/a2a/agents/${silent.installation.id}/.well-known/agent-card.json`
    expect((await platform.call('GET', path)).status).toBe(404)
  })

  it('stay verifiable for 35 days after their key was replaced', async () => {
    const { at } = await scene()
    await platform.call('GET', `${at}/.well-known/agent-card.json`)
    const kids = async () =>
      (await platform.call('GET', '/.well-known/jwks.json')).body.keys
        .filter(({ purpose }: { purpose: string }) => purpose === 'cards')
        .map(({ kid }: { kid: string }) => kid)
    const [old] = await kids()
    const created_at = platform.clock.now() + 1
    const next = { ring: 'cards', kid: 'next', x: 'x', y: 'y', created_at }
    await platform.deps.table.transact([SigningKeyEntity.create(next)])
    platform.clock.advance(34 * DAY)
    expect((await kids()).sort()).toEqual([old, 'next'].sort())
    platform.clock.advance(2 * DAY)
    expect(await kids()).toEqual(['next'])
  })
})

describe('sending a message', () => {
  it('that waits reaches its agent in the request, without a worker', async () => {
    const { rpc } = await scene()
    platform.messages.splice(0)
    const { body } = await rpc('SendMessage', look({ n: 1 }))
    expect(body.result.task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } })
    expect(platform.messages.map(({ queue }) => queue)).not.toContain('dispatch')
    expect(platform.outbox.map(({ type }) => type)).not.toContain('run.created')
    await platform.drain()
  })

  it('that calls a tool waits for the answer, which is an artifact of the completed task', async () => {
    const { working, target } = await scene()
    const { body } = await working('SendMessage', look({ n: 1 }))
    expect(body.result.task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'output', parts: [{ data: { found: 3 } }] }],
      metadata: { 'aip/untrusted': true, 'aip/chain_depth': 1 },
    })
    expect(body.result.task.contextId).toMatch(/^ctx_/)
    const execute = agents.received.findLast(({ run }) => run.id === body.result.task.id)
    expect(execute).toMatchObject({
      protocol: 'a2a',
      run: { trigger: 'a2a', input: { n: 1 } },
      tool: 'look',
      message: { role: 'ROLE_USER' },
      context: { id: body.result.task.contextId, run_ids: [] },
    })
    const audited = (await agents.audit(target.workspaceId)).map(({ action }) => action)
    expect(audited).toEqual(['agent.called'])
  })

  it('of any form reaches an agent that takes messages, and its context names the earlier runs', async () => {
    const answer = { text: 'Three.', $a2a: { message: { parts: [{ text: 'Three.' }] } } }
    const { working, rpc } = await scene(succeedsWith(answer))
    const first = await working('SendMessage', saying('How many?', { contextId: 'my context' }))
    expect(first.body.result.message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'Three.' }] })
    const { taskId } = first.body.result.message
    const second = await working('SendMessage', saying('And now?', { contextId: 'my context' }))
    const execute = agents.received.findLast(({ run }) => run.id === second.body.result.message.taskId)
    expect(execute).toMatchObject({
      run: { input: { text: 'And now?' } },
      message: { parts: [{ text: 'And now?' }] },
      context: { id: 'my context', run_ids: [taskId] },
    })
    const task = (await rpc('GetTask', { id: taskId })).body.result
    expect(task.artifacts).toEqual([{ artifactId: 'output', name: 'output', parts: [{ data: { text: 'Three.' } }] }])
    expect(JSON.stringify(task.artifacts)).not.toContain('$a2a')
  })

  it('can return at once; the task is then read, listed and cancelled, once', async () => {
    const { rpc, rest } = await scene(() => ACCEPT)
    const sent = await rpc('SendMessage', { ...look(), configuration: { returnImmediately: true } })
    const { id, contextId } = sent.body.result.task
    expect(sent.body.result.task.status.state).toBe('TASK_STATE_SUBMITTED')
    await platform.drain()
    expect((await rest('GET', `/tasks/${id}`)).body.status.state).toBe('TASK_STATE_WORKING')
    const list = (await rpc('ListTasks', { contextId })).body.result
    expect(list).toMatchObject({ tasks: [{ id }], totalSize: 1, nextPageToken: '', pageSize: 50 })
    const cancelled = await rest('POST', `/tasks/${id}:cancel`, {})
    expect(cancelled.body.status.state).toBe('TASK_STATE_CANCELED')
    const again = await rest('POST', `/tasks/${id}:cancel`, {})
    expect([again.status, again.body.error.status, reasonOf(again)]).toEqual([
      400,
      'FAILED_PRECONDITION',
      'TASK_NOT_CANCELABLE',
    ])
  })

  it('again gets the same task, with another body is refused, and 100 at once make one run', async () => {
    const { rpc, target } = await scene(() => ACCEPT)
    const params = { ...look(), configuration: { returnImmediately: true } }
    const ids = new Set<string>()
    for (let sent = 0, left = 100; left > 0 && sent < 10; sent++) {
      const answers = await Promise.all(Array.from({ length: left }, () => rpc('SendMessage', params)))
      for (const { body } of answers) if (body.result) ids.add(body.result.task.id)
      expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([])
      left -= answers.filter(({ status }) => status === 200).length
      platform.clock.advance(60_000)
    }
    expect(ids.size).toBe(1)
    expect(await agents.runsOf(target)).toHaveLength(1)
    const other = await rpc('SendMessage', { message: { ...params.message, parts: [{ text: 'Other' }] } })
    expect([other.body.error.code, reasonOf(other)]).toEqual([-32_602, 'IDEMPOTENCY_KEY_REUSED'])
  })

  it('that dies at any store call leaves one task that ends, which the message finds when it is sent again', async () => {
    await dieAtEach(platform, { limit: 200, stride: 20 }, async (n, dying) => {
      const { rpc, target } = await scene()
      const params = { ...look({ n }), configuration: { returnImmediately: true } }
      await dying(
        () => rpc('SendMessage', params),
        () => platform.drain(),
      )
      await recover(platform, 200_000)
      const { task } = (await rpc('SendMessage', params)).body.result
      await platform.drain()
      const runs = await agents.runsOf(target)
      expect(
        runs.map(({ id }) => id),
        `killed after call ${n}`,
      ).toEqual([task.id])
      const { state } = (await rpc('GetTask', { id: task.id })).body.result.status
      expect(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED'], `killed after call ${n}`).toContain(state)
      expect(await agents.activeRuns(target)).toBe(0)
    })
  })

  it('answers the question of a task, by key or as text, and only then', async () => {
    const { working, rpc } = await scene((execute) =>
      execute.resume
        ? { status: 'succeeded', output: { answer: execute.resume.input.shelf.content } }
        : { status: 'input_required', input_requests: { shelf: { message: 'Which shelf?' } } },
    )
    const asked = (await working('SendMessage', look())).body.result.task
    expect(asked.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Which shelf?' }, { data: { input_requests: { shelf: {} } } }] },
    })
    const elsewhere = await rpc('SendMessage', saying('Three', { taskId: asked.id, contextId: 'other' }))
    expect(elsewhere.body.error.code).toBe(-32_602)
    const done = await working('SendMessage', saying('Three', { taskId: asked.id }))
    expect(done.body.result.task).toMatchObject({
      id: asked.id,
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ parts: [{ data: { answer: { text: 'Three' } } }] }],
    })
    const late = await rpc('SendMessage', saying('Four', { taskId: asked.id }))
    expect([late.body.error.code, reasonOf(late)]).toEqual([-32_004, 'UNSUPPORTED_OPERATION'])
  })

  it('shows failures, and rejections as such', async () => {
    const { working, target } = await scene(() => ({ status: 'failed', error_code: 'rejected', error_message: 'No.' }))
    const rejected = (await working('SendMessage', look())).body.result.task
    expect(rejected.status).toMatchObject({
      state: 'TASK_STATE_REJECTED',
      message: { parts: [{ text: 'No.' }], metadata: { error_code: 'rejected' } },
    })
    target.behaves(() => ({ status: 'failed', error_code: 'no_stock', error_message: 'Empty.' }))
    expect((await working('SendMessage', look())).body.result.task.status.state).toBe('TASK_STATE_FAILED')
    target.behaves(() => ({ status: 'failed' }))
    expect((await working('SendMessage', look())).body.result.task.status.message).toMatchObject({
      parts: [{ text: 'The agent failed without a message.' }],
      metadata: { error_code: 'agent_failed' },
    })
  })
})

describe('streams', () => {
  const eventsOf = (text: string) =>
    text
      .split('\n\n')
      .filter((block) => block.includes('data: '))
      .map((block) => ({
        id: /^id: (.*)$/m.exec(block)?.[1] as string,
        data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] as string),
      }))

  it('resume after every event: nothing is missing and nothing comes twice', async () => {
    const { rpc, at, caller } = await scene(() => ({
      status: 'succeeded',
      steps: [
        { type: 'message', output: { text: 'Looking' } },
        { type: 'artifact', output: { artifact_id: 'list', parts: [{ text: 'A' }] } },
        { type: 'tool_call', output: {} },
        { type: 'artifact', output: { artifact_id: 'list', parts: [{ text: 'B' }], append: true } },
      ],
      output: { $a2a: { artifacts: [{ parts: [{ text: 'one' }] }, { parts: [{ text: 'two' }] }] } },
    }))
    const streamed = await platform.call('POST', `${at}/message:stream`, {
      token: caller.token,
      body: look(),
      headers: { 'a2a-version': '1.0' },
    })
    const [first] = eventsOf(streamed.text)
    expect(first?.data.task.status.state).toBe('TASK_STATE_SUBMITTED')
    const id = first?.data.task.id
    await platform.drain()
    /** Reads to the end, however often the stream closes. */
    const rest = async (seen: string) => {
      const events: ReturnType<typeof eventsOf> = []
      for (let at = seen; ; at = events.at(-1)?.id ?? at) {
        const { body, text } = await rpc('SubscribeToTask', { id }, { headers: { 'last-event-id': at } })
        if (body?.error?.code === -32_004) return events
        events.push(...eventsOf(text))
      }
    }
    const all = await rest(String(first?.id))
    expect(all.at(-1)?.data.result.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
    expect(all.flatMap(({ data }) => data.result.artifactUpdate?.artifact.parts[0].text ?? [])).toEqual([
      'A',
      'B',
      'one',
      'two',
    ])
    const shown = (events: typeof all) => events.map((event) => ({ id: event.id, result: event.data.result }))
    for (const [i, { id: seen }] of all.entries())
      expect(shown(await rest(seen)), seen).toEqual(shown(all.slice(i + 1)))
    const over = await rpc('SubscribeToTask', { id }, { headers: { 'last-event-id': String(all.at(-1)?.id) } })
    expect(over.body.error.code).toBe(-32_004)
    const beyond = await rpc('SubscribeToTask', { id }, { headers: { 'last-event-id': '9999' } })
    expect(eventsOf(beyond.text)[0]?.data.result.task.status.state).toBe('TASK_STATE_COMPLETED')
    expect((await rpc('SubscribeToTask', { id }, { headers: { 'last-event-id': 'x' } })).body.error.code).toBe(-32_602)
  })
})

describe('the rules of calls between agents', () => {
  it.each(['policy', 'switch'])('hold over A2A as over the tools: %s', async (rule) => {
    const { rpc, target, caller } = await scene()
    if (rule === 'policy') await target.set({ allowed_callers: [] })
    else {
      const off = WorkspaceEntity.update({ id: caller.workspaceId }, { set: { cross_agent_enabled: false } })
      await platform.deps.table.transact([off])
    }
    const over = await rpc('SendMessage', look())
    const tool = await agents.ask(caller.token, target.slug)
    expect([over.status, reasonOf(over)]).toEqual([403, 'TOOL_DENIED'])
    expect([tool.status, tool.body.error.code]).toEqual([403, 'tool_denied'])
    const denied = (await agents.audit(caller.workspaceId)).filter(({ action }) => action === 'agent.call_denied')
    expect(denied).toHaveLength(2)
  })

  it.each([
    ['depth', { chain_depth: 3 }, 'chain_too_deep'],
    ['budget', { first_hop_at: 1 }, 'chain_budget_exceeded'],
  ])('hold over A2A as over the tools: %s', async (_rule, set, code) => {
    const { rpc, target, caller } = await scene()
    const { run, token } = await agents.running(caller)
    const key = { installation_id: caller.installation.id, id: run.id }
    await platform.deps.table.transact([RunEntity.update(key, { set })])
    const over = await rpc('SendMessage', look(), { token })
    const tool = await agents.ask(token, target.slug)
    expect([over.status, over.body.error.code, reasonOf(over)]).toEqual([409, 409, code.toUpperCase()])
    expect([tool.status, tool.body.error.code]).toEqual([409, code])
  })

  it('hold over A2A as over the tools: bans of scopes', async () => {
    const { rpc, target, caller } = await scene()
    const ban = WorkspaceEntity.update({ id: caller.workspaceId }, { set: { denied_scopes: ['runs:write'] } })
    await platform.deps.table.transact([ban])
    const over = await rpc('SendMessage', look())
    const tool = await agents.ask(caller.token, target.slug)
    expect([over.status, reasonOf(over)]).toEqual([403, 'SCOPE_DENIED_BY_ADMIN'])
    expect([tool.status, tool.body.error.code]).toEqual([403, 'scope_denied_by_admin'])
    expect((await rpc('ListTasks', {})).status).toBe(200)
  })

  it('make a task that nobody waits for one hop deeper, with its own deadline', async () => {
    const { rpc, target, caller } = await scene(() => ACCEPT)
    const { run, token } = await agents.running(caller)
    const params = {
      ...look({}, { metadata: { 'aip/audience': 'external' } }),
      configuration: { returnImmediately: true },
    }
    await rpc('SendMessage', params, { token })
    const [task] = await agents.runsOf(target)
    expect(task).toMatchObject({ chain_depth: 1, audience: 'external', is_detached: true, parent_run_id: run.id })
  })
})

describe('strangers', () => {
  it('find nothing: neither another workspace’s agent, nor a task that they didn’t start', async () => {
    const { rpc, at, caller, target } = await scene(() => ACCEPT)
    const sent = await rpc('SendMessage', { ...look(), configuration: { returnImmediately: true } })
    const { id } = sent.body.result.task
    const foreign = await installed(platform.deps)
    const outside = await rpc('GetTask', { id }, { token: foreign.token })
    expect([outside.status, reasonOf(outside)]).toEqual([404, 'NOT_FOUND'])
    const other = await installed(platform.deps, { workspaceId: caller.workspaceId })
    const { token } = await agents.running(caller)
    for (const principal of [other.token, token]) {
      for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask']) {
        const answer = await rpc(method, { id }, { token: principal })
        expect([answer.body.error?.code, reasonOf(answer)], method).toEqual([-32_001, 'TASK_NOT_FOUND'])
      }
      const answered = await rpc('SendMessage', saying('x', { taskId: id }), { token: principal })
      expect(answered.body.error.code).toBe(-32_001)
      expect((await rpc('ListTasks', {}, { token: principal })).body.result.totalSize).toBe(0)
    }
    expect((await rpc('GetTask', { id }, { token: target.token })).status).toBe(404)
    expect((await platform.call('POST', `${at}/rpc`, { body: {} })).status).toBe(401)
  })
})

describe('the frame', () => {
  it('reads versions: none means 0.3, patches don’t count, unknown ones are -32009', async () => {
    const { rpc, rest, at, caller } = await scene()
    expect((await rpc('ListTasks', {}, { headers: { 'a2a-version': '1.0.7' } })).status).toBe(200)
    const unknown = await rpc('ListTasks', {}, { headers: { 'a2a-version': '2.0' } })
    expect(unknown.body.error.code).toBe(-32_009)
    const old = await rpc('ListTasks', {}, { headers: { 'a2a-version': '' } })
    expect(old.body.error.code).toBe(-32_601)
    const byQuery = await platform.call('GET', `${at}/tasks?A2A-Version=1.0`, { token: caller.token })
    expect(byQuery.status).toBe(200)
    expect((await platform.call('GET', `${at}/tasks`, { token: caller.token })).body.error.code).toBe(400)
    expect((await rest('GET', '/tasks?pageSize=0')).body.error.details[1].fieldViolations[0].field).toBe('pageSize')
  })

  it('is one JSON-RPC request, and errors name fields', async () => {
    const { at, caller, rpc } = await scene()
    const send = (body: unknown) =>
      platform.call('POST', `${at}/rpc`, { token: caller.token, body, headers: { 'a2a-version': '1.0' } })
    expect((await send([])).body.error.code).toBe(-32_600)
    expect((await send('{')).body.error.code).toBe(-32_700)
    expect((await send({ jsonrpc: '2.0', id: 1, method: 'Nothing' })).body.error.code).toBe(-32_601)
    const invalid = await rpc('SendMessage', { message: { parts: [{ text: 'a', url: 'b' }], role: 'ROLE_AGENT' } })
    expect(invalid.body.error.code).toBe(-32_602)
    expect(invalid.body.error.data[1].fieldViolations.map(({ field }: { field: string }) => field).sort()).toEqual([
      'message.messageId',
      'message.parts',
      'message.role',
    ])
    const typed = await rpc('SendMessage', look({ n: 'many' }))
    expect(typed.body.error).toMatchObject({ code: -32_602, data: [{ reason: 'INVALID_ARGUMENTS' }, {}] })
    expect((await rpc('SendMessage', { ...look(), tenant: 't' })).body.error.code).toBe(-32_602)
  })
})
