import { beforeEach, describe, expect, it } from 'vitest'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { lastResult } from '#testkit/model-server.ts'
import { usingModel } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { configureModel, INSTRUCTIONS, inlineAgent, readRun, runOf } from './inline-agents-support.ts'

const platform = usingPlatform()
const model = usingModel()
beforeEach(() => {
  configureModel(platform, model)
  model.requests.length = 0
  model.always({ text: 'done' })
})

const notify = { tool: 'notify_user', arguments: { title: 'Hello', body: 'World' } }
const notifications = async (workspaceId: string) =>
  (await platform.deps.table.query(NotificationEntity, { workspace_id: workspaceId }, { limit: 100 })).items

describe('a run of an inline agent', () => {
  it('sends the model its instructions and its input, and succeeds with the reply', async () => {
    const app = await inlineAgent(platform)
    model.next({ text: 'Seven pieces.', usage: { input: 21, output: 4 } })
    const run = await runOf(platform, app, { question: 'how many?' })
    expect(run).toMatchObject({
      status: 'succeeded',
      output: { text: 'Seven pieces.' },
      cost_units: 25,
      steps: [{ type: 'message', output: { text: 'Seven pieces.', usage: { input_tokens: 21, output_tokens: 4 } } }],
    })
    const [system, user] = model.requests[0]?.messages ?? []
    expect(system).toEqual({ role: 'system', content: INSTRUCTIONS })
    expect(JSON.parse(user?.content ?? '')).toMatchObject({ input: { question: 'how many?' }, trigger: 'api' })
    expect(model.requests[0]?.path).toBe('/v1/chat/completions')
  })

  it('uses the manifest’s model, or the deployment’s by default', async () => {
    await runOf(platform, await inlineAgent(platform, { runtime: { model: 'large' } }))
    await runOf(platform, await inlineAgent(platform))
    expect(model.requests.map((request) => request.model)).toEqual(['large', 'small'])
  })

  it.each([
    ['a JSON object', '{"pieces": 7}', { pieces: 7 }],
    ['a JSON object in a fence', '```json\n{"pieces": 7}\n```', { pieces: 7 }],
    ['a JSON array', '[7]', { text: '[7]' }],
    ['words', 'Seven {or so}.', { text: 'Seven {or so}.' }],
  ])('that replies with %s has it as its output', async (_what, text, output) => {
    model.next({ text })
    expect((await runOf(platform, await inlineAgent(platform))).output).toEqual(output)
  })

  it('keeps a long reply whole in its output, and truncates it in the step', async () => {
    const text = '"€'.repeat(20_000)
    model.next({ text })
    const run = await runOf(platform, await inlineAgent(platform))
    expect(run.output).toEqual({ text })
    expect(run.steps[0].output).toMatchObject({ truncated: true, text: text.slice(0, 2_000) })
  })

  it('costs what its model has used, also if the last step doesn’t fit into the run', async () => {
    const app = await inlineAgent(platform)
    model.next({ text: 'Seven pieces.', usage: { input: 21, output: 4 } })
    const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    const key = { installation_id: app.installation.id, id: body.id }
    await platform.deps.table.transact([RunEntity.update(key, { set: { step_count: LIMITS.stepsPerRun } })])
    await platform.drain()
    expect(await readRun(platform, app, body.id)).toMatchObject({
      status: 'failed',
      error_code: 'too_many_steps',
      cost_units: 25,
      usage: { input_tokens: 21, output_tokens: 4 },
    })
  })

  it('fails with llm_not_configured when the deployment has no model, without any call', async () => {
    const { createLanguageModel } = await import('#shared/adapters/language-model.ts')
    const options = { key: async () => 'key', apiUrl: model.url, name: 'small' }
    for (const lacking of [{ key: async () => undefined }, { apiUrl: undefined }, { name: undefined }]) {
      platform.deps.model = createLanguageModel({ ...options, ...lacking })
      const run = await runOf(platform, await inlineAgent(platform))
      expect(run).toMatchObject({ status: 'failed', error_code: 'llm_not_configured' })
    }
    expect(model.requests).toEqual([])
  })

  it('isn’t started for a suspended installation, and other queued runs continue', async () => {
    const app = await inlineAgent(platform)
    const { InstallationEntity } = await import('#shared/access/installations/entity.ts')
    const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    await platform.deps.table.transact([InstallationEntity.update(app.installation, { set: { status: 'suspended' } })])
    await platform.drain()
    await platform.deps.table.transact([InstallationEntity.update(app.installation, { set: { status: 'active' } })])
    expect(await readRun(platform, app, body.id)).toMatchObject({ error_code: 'installation_suspended' })
    expect(model.requests).toEqual([])
  })
})

describe('the platform tools', () => {
  it('are called in the run’s name, and their results sent to the model', async () => {
    const app = await inlineAgent(platform)
    model.next({ text: 'I tell them.', calls: [notify] }, (request) => ({ text: `told: ${lastResult(request)}` }))
    const run = await runOf(platform, app)
    expect(run.status).toBe('succeeded')
    expect(run.output.text).toMatch(/^told: \{"notification_id":"ntf_/)
    expect(run.steps.map(({ type, tool }: { type: string; tool: string | null }) => [type, tool])).toEqual([
      ['message', null],
      ['tool_call', 'notify_user'],
      ['message', null],
    ])
    expect(run.cost_units).toBe(30)
    expect(await notifications(app.workspaceId)).toMatchObject([
      { title: 'Hello', installation_id: app.installation.id },
    ])
    const sent = model.requests[1]?.messages.slice(2)
    expect(sent).toMatchObject([
      { role: 'assistant', content: 'I tell them.', tool_calls: [{ function: { name: 'notify_user' } }] },
      { role: 'tool', tool_call_id: sent?.[0]?.tool_calls?.[0]?.id },
    ])
  })

  it('are offered as scopes and bans allow', async () => {
    await runOf(platform, await inlineAgent(platform, { scopes: ['tools:invoke', 'workspace:read', 'runs:write'] }))
    expect(model.requests[0]?.tools.sort()).toEqual(['ask_agent', 'http_fetch', 'list_runs', 'workspace_info'])
    const { WorkspaceEntity } = await import('#shared/identity/people/entity.ts')
    const app = await inlineAgent(platform, { scopes: ['tools:invoke', 'workspace:read', 'runs:write'] })
    await platform.deps.table.transact([
      WorkspaceEntity.update({ id: app.workspaceId }, { set: { denied_tools: ['ask_agent'] } }),
    ])
    await runOf(platform, app)
    expect(model.requests[1]?.tools.sort()).toEqual(['http_fetch', 'list_runs', 'workspace_info'])
  })

  it('are not offered without the scope tools:invoke, and calls by the model are refused', async () => {
    const app = await inlineAgent(platform, { scopes: ['runs:write', 'chat:write'] })
    model.next({ calls: [notify] }, (request) => ({ text: lastResult(request) ?? '' }))
    const run = await runOf(platform, app)
    expect(model.requests[0]?.tools).toEqual([])
    expect(run.output).toMatchObject({ error: { code: 'insufficient_scope' } })
    expect(await notifications(app.workspaceId)).toEqual([])
  })

  it.each([
    ['an unknown tool', { tool: 'make_coffee' }, 'unknown_tool'],
    ['invalid arguments', { tool: 'notify_user', arguments: { titel: 'x' } }, 'validation_error'],
    ['arguments that aren’t JSON', { tool: 'notify_user', arguments: '{"title": ' }, 'validation_error'],
    ['arguments that aren’t an object', { tool: 'notify_user', arguments: '[1]' }, 'validation_error'],
  ])('called with %s are refused to the model, which continues', async (_what, call, code) => {
    const app = await inlineAgent(platform)
    model.next({ calls: [call, notify] }, (request) => ({ text: JSON.stringify(request.messages.slice(-2)) }))
    const run = await runOf(platform, app)
    expect(run.status).toBe('succeeded')
    expect(JSON.parse(model.requests[1]?.messages.at(-2)?.content ?? '')).toMatchObject({ error: { code } })
    expect(run.steps[1]).toMatchObject({
      type: 'tool_call',
      status: 'failed',
      tool: call.tool,
      output: { error: { code } },
    })
    expect(await notifications(app.workspaceId)).toHaveLength(1)
  })

  it('that are banned during the run are refused afterwards', async () => {
    const app = await inlineAgent(platform)
    const { InstallationEntity } = await import('#shared/access/installations/entity.ts')
    model.next(
      { calls: [notify] },
      async () => {
        await platform.deps.table.transact([
          InstallationEntity.update(app.installation, { set: { denied_tools: ['notify_user'] } }),
        ])
        return { calls: [notify] }
      },
      (request) => ({ text: lastResult(request) ?? '' }),
    )
    expect((await runOf(platform, app)).output).toMatchObject({ error: { code: 'tool_denied' } })
    expect(await notifications(app.workspaceId)).toHaveLength(1)
  })

  it('send the model at most 32,000 characters of a result', async () => {
    const app = await inlineAgent(platform)
    for (let i = 0; i < 5; i++) {
      await platform.call('POST', '/api/v1/tools/create_task/invoke', {
        token: app.token,
        body: { arguments: { title: `Task ${i}`, description: 'x'.repeat(8_000) } },
      })
    }
    model.next({ calls: [{ tool: 'my_tasks' }] })
    await runOf(platform, app)
    const sent = lastResult(model.requests[1] as NonNullable<(typeof model.requests)[1]>) ?? ''
    expect(sent).toMatch(/… \(cut: \d{5} characters\)$/)
    expect(sent.length).toBeLessThan(32_100)
  })
})

describe('an agent that is asked by another agent', () => {
  it('can be an inline one: it receives the tool and its arguments, and its JSON reply is the result', async () => {
    const schema = { type: 'object', properties: { product: { type: 'string' } } }
    const target = await inlineAgent(platform, {
      tools: [{ name: 'check_stock', description: 'Tells the stock.', input_schema: schema }],
    })
    const asking = await inlineAgent(platform, { workspaceId: target.workspaceId })
    const ask = { agent: target.app.slug, tool: 'check_stock', arguments: { product: 'tea' } }
    model.always(({ messages }) => {
      const prompt = JSON.parse(messages[1]?.content ?? '')
      if (prompt.tool) return { text: '{"pieces": 7}' }
      const answer = messages.findLast(({ role }) => role === 'tool')?.content
      return answer ? { text: answer } : { calls: [{ tool: 'ask_agent', arguments: ask }] }
    })
    const { body } = await platform.call('POST', '/api/v1/runs', { token: asking.token, body: {} })
    // The asking worker waits for the asked one.
    let run = body
    for (let i = 0; i < 200 && run.status !== 'succeeded' && run.status !== 'failed'; i++) {
      void platform.drain()
      await new Promise((resolve) => setTimeout(resolve, 25))
      run = await readRun(platform, asking, body.id)
    }
    expect(run).toMatchObject({ status: 'succeeded' })
    expect(JSON.stringify(run.output)).toContain('pieces')
    const prompts = model.requests.map(({ messages }) => JSON.parse(messages[1]?.content ?? ''))
    expect(prompts.find(({ tool }) => tool)).toMatchObject({
      tool: { name: 'check_stock', description: 'Tells the stock.' },
      arguments: { product: 'tea' },
      caller: { slug: asking.app.slug },
    })
  })
})

describe('the maximum number of steps', () => {
  it('from the manifest ends a run that keeps calling tools', async () => {
    model.always({ calls: [{ tool: 'workspace_info' }] })
    const run = await runOf(platform, await inlineAgent(platform, { runtime: { max_steps: 3 } }))
    expect(run).toMatchObject({ status: 'failed', error_code: 'max_steps_reached' })
    expect(model.requests).toHaveLength(4)
    expect(run.steps.filter(({ type }: { type: string }) => type === 'tool_call')).toHaveLength(3)
    expect(run.cost_units).toBe(60)
  })

  it('is 10 by default', async () => {
    model.always({ calls: [{ tool: 'workspace_info' }] })
    await runOf(platform, await inlineAgent(platform))
    expect(model.requests).toHaveLength(11)
  })

  it('still allows the model a final reply', async () => {
    model.next({ calls: [{ tool: 'workspace_info' }] })
    const run = await runOf(platform, await inlineAgent(platform, { runtime: { max_steps: 1 } }))
    expect(run).toMatchObject({ status: 'succeeded', output: { text: 'done' } })
  })
})

describe('a cancelled run', () => {
  it('takes no further turn and makes no call when the model was responding', async () => {
    const app = await inlineAgent(platform)
    const { body } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
    model.next(async () => {
      await platform.call('POST', `/api/v1/runs/${body.id}/cancel`, { token: app.token })
      return { calls: [notify] }
    })
    await platform.drain()
    expect(await readRun(platform, app, body.id)).toMatchObject({ status: 'cancelled', steps: [] })
    expect(model.requests).toHaveLength(1)
    expect(await notifications(app.workspaceId)).toEqual([])
  })
})
