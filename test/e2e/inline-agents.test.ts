import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lastResult, MODEL_KEY, type ModelServer, startModelServer } from '#test/support/model-server.ts'
import { type Receiver, startReceiver } from '#test/support/receiver.ts'
import { must, newAgent, type Running, send, startLocal, temporaryFolder, until } from './support.ts'

const RUNTIME = { type: 'inline', instructions: 'You look things up.', max_steps: 4 }

describe('an inline agent in the local run', () => {
  const place = temporaryFolder()
  let running: Running
  let model: ModelServer
  let page: Receiver

  beforeAll(async () => {
    model = await startModelServer()
    page = await startReceiver()
    page.answer({ kind: 'answer', status: 200, body: 'tea: 7 pieces' })
    running = await startLocal({
      dataDir: place.folder,
      shell: { MODEL_API_URL: model.url, MODEL_NAME: 'small', MODEL_API_KEY: MODEL_KEY },
    })
  })
  afterAll(async () => {
    await running.stop()
    await Promise.all([model.close(), page.close()])
    place.remove()
  })

  it('is test-run: it calls a tool, waits for a person’s approval, and answers with what it found', async () => {
    const { baseUrl } = running
    const agent = await newAgent(baseUrl, { runtime: RUNTIME, scopes: ['workspace:read', 'tools:invoke'] })
    model.next(
      { text: 'Where am I?', calls: [{ tool: 'workspace_info' }] },
      { text: 'Let me look.', calls: [{ tool: 'http_fetch', arguments: { url: page.url } }] },
      (request) => ({ text: JSON.stringify({ found: JSON.parse(lastResult(request) ?? '').body }) }),
    )
    const testRun = must(baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/test-run`, {
      headers: agent.headers,
      body: { input: { product: 'tea' } },
    })
    const { token } = await must(baseUrl, 'POST', '/console/session', {
      body: { user: 'approver', workspace: agent.sandboxId },
    })
    const waiting = await until(async () => {
      const { items } = await must(baseUrl, 'GET', '/console/runs', { token })
      return items.find(({ status }: { status: string }) => status === 'awaiting_approval')
    })
    const { steps } = await must(baseUrl, 'GET', `/console/runs/${waiting.id}`, { token })
    const step = steps.find(({ type }: { type: string }) => type === 'approval')
    await must(baseUrl, 'POST', `/console/runs/${waiting.id}/steps/${step.id}/decision`, {
      token,
      body: { decision: 'approve' },
    })
    const { run, agent: shown } = await testRun
    expect(shown.runtime_type).toBe('inline')
    expect(run).toMatchObject({ status: 'succeeded', output: { found: 'tea: 7 pieces' }, cost_units: 45 })
    expect(run.steps.map(({ type, tool }: { type: string; tool: string | null }) => tool ?? type)).toEqual([
      'message',
      'workspace_info',
      'message',
      'http_fetch',
      'message',
    ])
    expect(page.requests).toHaveLength(1)
    expect(JSON.stringify(running.logs)).not.toContain(MODEL_KEY)
  })
})

describe('without a key', () => {
  it('an inline agent fails with llm_not_configured, and everything else works', async () => {
    const place = temporaryFolder()
    const running = await startLocal({ dataDir: place.folder })
    try {
      const { baseUrl } = running
      const agent = await newAgent(baseUrl, { runtime: RUNTIME })
      const { run } = await must(baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/test-run`, {
        headers: agent.headers,
        body: {},
      })
      expect(run).toMatchObject({ status: 'failed', error_code: 'llm_not_configured' })
      expect((await send(baseUrl, 'GET', '/openapi.json')).status).toBe(200)
    } finally {
      await running.stop()
      place.remove()
    }
  })
})
