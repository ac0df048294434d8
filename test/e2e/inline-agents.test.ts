import { describe, expect, it } from 'vitest'
import { lastResult, MODEL_KEY } from '#testkit/model-server.ts'
import { usingModel, usingReceiver } from '#testkit/using.ts'
import { must, newAgent, send, until } from './support.ts'
import { usingLocal, usingOwnLocal } from './using-local.ts'

const RUNTIME = { type: 'inline', instructions: 'You look things up.', max_steps: 5 }

describe('an inline agent in the local run', () => {
  const model = usingModel()
  const page = usingReceiver({ kind: 'answer', status: 200, body: 'tea: 7 pieces' })
  const running = usingOwnLocal(() => ({
    shell: { MODEL_API_URL: model.url, MODEL_NAME: 'small', MODEL_API_KEY: MODEL_KEY },
  }))

  it('is test-run: it calls a tool, waits for a person’s approval, and answers with its findings', async () => {
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

  it('shows the first words of an answer while the model writes it, within 0.3 seconds', async () => {
    const { baseUrl } = running
    const agent = await newAgent(baseUrl, { runtime: RUNTIME, scopes: ['workspace:read', 'tools:invoke'] })
    const turns = ['One', 'Two', 'Three', 'Four', 'Five']
    const written = new Map<string, number>()
    const seen = new Map<string, number>()
    const follows = Promise.withResolvers<void>()
    const shown = turns.map(() => Promise.withResolvers<void>())
    const call = { index: 0, id: 'c', function: { name: 'workspace_info', arguments: '{}' } }
    model.next(
      ...turns.map((word, i) => ({
        chunks: (async function* () {
          await follows.promise
          written.set(word, performance.now())
          yield { choices: [{ index: 0, delta: { content: word }, finish_reason: null }] }
          await shown[i]?.promise
          const isLast = i === turns.length - 1
          const delta = isLast ? {} : { tool_calls: [call] }
          yield { choices: [{ index: 0, delta, finish_reason: isLast ? 'stop' : 'tool_calls' }] }
        })(),
      })),
    )
    const testRun = must(baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/test-run`, {
      headers: agent.headers,
      body: {},
    })
    const { token } = await must(baseUrl, 'POST', '/console/session', {
      body: { user: 'approver', workspace: agent.sandboxId },
    })
    const { id } = await until(async () => {
      const { items } = await must(baseUrl, 'GET', '/console/runs', { token })
      return items.find(({ status }: { status: string }) => status === 'running')
    })
    const stream = await fetch(`${baseUrl}/console/runs/${id}/stream`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    })
    follows.resolve()
    let text = ''
    for await (const piece of (stream.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      text += piece
      for (const [i, word] of turns.entries()) {
        if (seen.has(word) || !text.includes(`"text":"${word}"`)) continue
        seen.set(word, performance.now())
        shown[i]?.resolve()
      }
    }
    expect((await testRun).run).toMatchObject({ status: 'succeeded', output: { text: 'Five' } })
    const waits = turns.map((word) => Math.round((seen.get(word) ?? Infinity) - (written.get(word) ?? 0)))
    console.info(`ms from the model’s first token to its first words in the run’s stream: ${waits.join(', ')}`)
    // The fastest of them: other tests use the same cores.
    expect(Math.min(...waits)).toBeLessThan(300)
  })
})

describe('without a key', () => {
  const running = usingLocal()

  it('an inline agent fails with llm_not_configured, and everything else works', async () => {
    const { baseUrl } = running
    const agent = await newAgent(baseUrl, { runtime: RUNTIME })
    const { run } = await must(baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/test-run`, {
      headers: agent.headers,
      body: {},
    })
    expect(run).toMatchObject({ status: 'failed', error_code: 'llm_not_configured' })
    expect((await send(baseUrl, 'GET', '/openapi.json')).status).toBe(200)
  })
})
