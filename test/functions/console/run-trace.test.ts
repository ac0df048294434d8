import { beforeEach, describe, expect, it } from 'vitest'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { RunEntity } from '#shared/work/runs/entity.ts'
import { callbackToken, installed, member } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const page = usingReceiver()
beforeEach(() => {
  platform.clock.advance(60_000)
  agent.answer({ kind: 'answer', status: 202 })
  page.answer({ kind: 'answer', status: 200, body: 'the page' })
})

type App = Awaited<ReturnType<typeof installed>>

const started = async (app: App, body: object = {}): Promise<{ id: string; token: string }> => {
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body })
  await platform.drain()
  return { id: run.id, token: await callbackToken(platform.deps, app, run.id) }
}

const traceOf = async (id: string, { token }: { token: string }) => {
  const { status, body } = await platform.call('GET', `/console/runs/${id}/trace`, { token })
  return { status, body }
}

describe('GET /console/runs/{id}/trace', () => {
  it('says when a call waited, who decided, and when it was executed', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { id, token } = await started(app)
    const { body: asked } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
      token,
      body: { arguments: { url: page.url } },
    })
    expect((await traceOf(id, app.person)).body.runs[0].steps[0]).toMatchObject({ status: 'pending', ended_at: null })
    platform.clock.advance(30_000)
    await platform.call('POST', `/console/runs/${id}/steps/${asked.step_id}/decision`, {
      token: app.person.token,
      body: { decision: 'approve', comment: 'Fine.' },
    })
    platform.clock.advance(1_000)
    await platform.drain()
    const { runs } = (await traceOf(id, app.person)).body
    const [step] = runs[0].steps
    expect(step.decision).toMatchObject({ by: { id: app.person.user.id }, comment: 'Fine.' })
    expect(Date.parse(step.decision.at) - Date.parse(step.started_at)).toBe(30_000)
    expect(Date.parse(step.executing_at) - Date.parse(step.decision.at)).toBe(1_000)
    expect(Date.parse(step.ended_at)).toBeGreaterThanOrEqual(Date.parse(step.executing_at))
    expect(step.bytes).toBeGreaterThan(0)
  })

  it('adds up the tokens that steps report in any usual form', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { id, token } = await started(app)
    const usages = [{ input_tokens: 10, output_tokens: 2 }, { prompt_tokens: 5, completion_tokens: 1 }, { tokens: 3 }]
    const steps = usages.map((usage) => ({ type: 'message', output: { text: 'Thinking', usage } }))
    await platform.call('POST', `/api/v1/runs/${id}/steps`, { token, body: { steps } })
    const { runs } = (await traceOf(id, app.person)).body
    expect(runs[0].tokens).toEqual({ input: 15, output: 3 })
    expect(runs[0].steps.map(({ tokens }: { tokens: unknown }) => tokens)).toEqual([
      { input: 10, output: 2 },
      { input: 5, output: 1 },
      null,
    ])
  })

  it('has the runs that a run caused', async () => {
    const one = await installed(platform.deps, { endpoint: agent.url })
    const other = await installed(platform.deps, { endpoint: agent.url, workspaceId: one.workspaceId })
    const parent = await started(one)
    await platform.call('POST', '/api/v1/runs', { token: parent.token, body: { trigger: 'further' } })
    const { body: task } = await platform.call('POST', '/api/v1/tools/delegate_task/invoke', {
      token: parent.token,
      body: { arguments: { agent: other.app.slug, title: 'Count the mugs', start_now: true } },
    })
    expect(task.status).toBe('ok')
    await platform.drain()
    const { runs, is_complete } = (await traceOf(parent.id, one.person)).body
    expect(is_complete).toBe(true)
    expect(runs.map(({ parent_run_id }: { parent_run_id: string | null }) => parent_run_id)).toEqual([
      null,
      parent.id,
      parent.id,
    ])
    expect(runs.map(({ trigger }: { trigger: string }) => trigger).sort()).toEqual(['api', 'further', 'task'])
    const [step] = runs[0].steps
    expect(step).toMatchObject({ tool: 'delegate_task', type: 'tool_call' })
  })
})

describe('POST /console/runs/{id}/again', () => {
  const again = (id: string, { token }: { token: string }, body: object = {}) =>
    platform.call('POST', `/console/runs/${id}/again`, { token, body })

  it('starts a run with the same input or another one, for the person who asked', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const colleague = await member(platform.deps, app.workspaceId, 'member')
    const { id } = await started(app, { input: { question: 'How many?' } })
    const same = await again(id, colleague)
    expect(same).toMatchObject({ status: 201, body: { input: { question: 'How many?' }, trigger: 'manual' } })
    const edited = await again(id, colleague, { input: { question: 'How few?' } })
    const { body } = await platform.call('GET', `/console/runs/${edited.body.id}`, { token: colleague.token })
    expect(body).toMatchObject({
      input: { question: 'How few?' },
      repeats: id,
      started_by: { id: colleague.user.id },
      chain_depth: 0,
    })
  })

  it('keeps it external if its text came from outside, whoever repeats it', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const key = { installation_id: app.installation.id, id: (await started(app)).id }
    await platform.deps.table.transact([RunEntity.update(key, { set: { audience: 'external' } })])
    const { id } = (await again(key.id, app.person)).body
    expect((await platform.deps.table.get(RunEntity, { ...key, id }))?.audience).toBe('external')
  })

  it('refuses a run of a task or chat, and of an uninstalled agent', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const { id } = await started(app)
    const { body: task } = await platform.call('POST', '/console/tasks', {
      token: app.person.token,
      body: { title: 'Count', installation_id: app.installation.id },
    })
    const { body: handed } = await platform.call('POST', `/console/tasks/${task.id}/run`, { token: app.person.token })
    expect((await again(handed.run_id, app.person)).body.error.code).toBe('conflict')
    await platform.call('DELETE', `/console/installations/${app.installation.id}`, { token: app.person.token })
    expect((await again(id, app.person)).status).toBe(404)
  })

  it('checks an edited input of a declared tool', async () => {
    const app = await installed(platform.deps, { endpoint: agent.url })
    const tools = [
      { name: 'count', description: 'Counts', input_schema: { type: 'object', properties: { n: { type: 'number' } } } },
    ]
    const { version } = app
    const manifest = { json: JSON.stringify({ ...JSON.parse(version.manifest.json), tools }) }
    await platform.deps.table.transact([VersionEntity.update(version, { set: { manifest } })])
    const asking = await installed(platform.deps, { endpoint: agent.url, workspaceId: app.workspaceId })
    const parent = await started(asking)
    agent.answer({ kind: 'answer', status: 200, body: JSON.stringify({ status: 'succeeded', output: { n: 1 } }) })
    const asked = platform.call('POST', '/api/v1/tools/ask_agent/invoke', {
      token: parent.token,
      body: { arguments: { agent: app.app.slug, tool: 'count', arguments: { n: 1 } } },
    })
    const work = setInterval(() => void platform.drain(), 50)
    expect((await asked).body.status).toBe('ok')
    clearInterval(work)
    const { runs } = (await traceOf(parent.id, app.person)).body
    expect(runs[1]).toMatchObject({ tool: 'count', parent_run_id: parent.id })
    expect((await again(runs[1].id, app.person, { input: { n: 'one' } })).body.error.code).toBe('invalid_arguments')
    expect((await again(runs[1].id, app.person, { input: { n: 2 } })).status).toBe(201)
  })
})
