import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { lastResult, MODEL_KEY, startModelServer } from '#testkit/model-server.ts'
import { using } from '#testkit/using.ts'
import { must } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { startConformanceAgent } from './agent.ts'

const running = usingLocal()
const agent = using(
  () => startConformanceAgent(running.baseUrl, 3),
  (made) => made.close(),
)

const INFO = { name: 'test', version: '1.0.0' }
const options = () => ({ requestInit: { headers: { authorization: `Bearer ${agent.tokens[0]}` } } })
const textOf = (result: unknown): string => JSON.stringify((result as { content: unknown }).content)

// It knows no tasks: `tools/call` with the result type `task` is an error there. The conformance suite follows them.
describe('the official TypeScript client of 2026-07-28', () => {
  const connected = async (to: string) => {
    const versionNegotiation = { mode: { pin: '2026-07-28' } }
    const client = new ModernClient(INFO, { capabilities: { elicitation: {} }, versionNegotiation })
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name: 'Alice' } }))
    await client.connect(new ModernTransport(new URL(to, running.baseUrl), options()))
    return client
  }

  it('pages through every tool, and calls the platform’s and an agent’s', async () => {
    const client = await connected('/mcp')
    const { tools } = await client.listTools()
    expect(tools.length).toBeGreaterThan(180)
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
    expect(textOf(await client.callTool({ name: 'workspace_info', arguments: {} }))).toContain('time_zone')
    const name = `${agent.slug}__greet`
    expect(textOf(await client.callTool({ name, arguments: { name: 'Ada' } }))).toContain('Hello, Ada!')
    expect((await client.listPrompts()).prompts).toEqual([])
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(2)
    await client.close()
  })

  it('answers an agent’s questions, and reports progress', async () => {
    const client = await connected(agent.path)
    const answered = await client.callTool({ name: 'test_input_required_result_elicitation', arguments: {} })
    expect(textOf(answered)).toContain('Hello, Alice!')
    const seen: number[] = []
    await client.callTool(
      { name: 'test_tool_with_progress', arguments: {} },
      { onprogress: ({ progress }) => seen.push(progress) },
    )
    expect(seen).toEqual([0, 50, 100])
    await client.close()
  })
})

describe('the official TypeScript client of the versions with a handshake', () => {
  const connected = async (to: string) => {
    const client = new LegacyClient(INFO, { capabilities: { elicitation: {} } })
    const transport = new LegacyTransport(new URL(to, running.baseUrl), options())
    // The package's types don't allow for exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<typeof client.connect>[0])
    return client
  }

  it('lists, calls, answers questions on the stream, and sees logs', async () => {
    const client = await connected(agent.path)
    const asked: unknown[] = []
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params)
      return { action: 'accept' as const, content: { username: 'ada', email: 'ada@example.com' } }
    })
    const logs: unknown[] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      logs.push(params.data)
    })
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('greet')
    const answered = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who are you?' } })
    expect(textOf(answered)).toContain('ada@example.com')
    expect(asked).toMatchObject([{ message: 'Who are you?' }])
    await client.callTool({ name: 'test_tool_with_logging', arguments: {} })
    expect(logs).toEqual(['Tool execution started', 'Tool processing data', 'Tool execution completed'])
    await client.close()
  })

  it('cancels the agent’s run when it gives a call up', async () => {
    const client = await connected(agent.path)
    const abandon = new AbortController()
    const call = client.callTool({ name: 'slow_compute', arguments: { seconds: 60 } }, undefined, {
      signal: abandon.signal,
    })
    const given = call.catch((error: unknown) => error)
    const before = agent.received.length
    while (agent.received.length === before) await pause(20)
    const { run } = agent.received.at(-1)
    abandon.abort()
    await given
    const read = () => must(running.baseUrl, 'GET', `/api/v1/runs/${run.id}`, { token: agent.agentToken })
    await expect.poll(async () => (await read()).status).toBe('cancelled')
    await client.close()
  })
})

it('a client whose stream the platform ends learns why, and doesn’t wait for its own time limit', async () => {
  const connected = async () => {
    const client = new LegacyClient(INFO)
    const transport = new LegacyTransport(new URL(agent.path, running.baseUrl), options())
    await client.connect(transport as Parameters<typeof client.connect>[0])
    return client
  }
  const clients = await Promise.all(Array.from({ length: 4 }, connected))
  const calls = clients.map((client) =>
    client
      .callTool({ name: 'slow_compute', arguments: { seconds: 60 } }, undefined, { timeout: 600_000 })
      .catch((error: Error) => error.message),
  )
  expect(await Promise.race(calls)).toContain('You can have 3 at a time')
  await Promise.all(clients.map((client) => client.close()))
})

describe('the AI SDK', () => {
  const model = using(startModelServer, (server) => server.close())

  it('uses the platform’s tools as the guide says', async () => {
    const guide = readFileSync(path.join(ROOT, 'docs/guides/mcp.md'), 'utf8')
    const [, program = ''] = /## AI SDK\n\n```ts[^\n]*\n([\s\S]*?)```/.exec(guide) ?? []
    // The program's imports are found there.
    const file = path.join(ROOT, 'node_modules/.cache/guide-mcp.mjs')
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, `${program}\nexport { answer }\n`)
    const { answer } = await import(file)
    model.always((turn) => {
      const result = lastResult(turn)
      return result === undefined ? { calls: [{ tool: 'workspace_info', arguments: {} }] } : { text: `Told: ${result}` }
    })
    const execute = {
      run: { input: { question: 'What is the workspace called?' } },
      callback: { mcp_url: `${running.baseUrl}/mcp`, token: agent.tokens[0] },
    }
    const provider = createOpenAICompatible({ name: 'stub', baseURL: model.url, apiKey: MODEL_KEY })
    expect(await answer(execute, provider.chatModel('stub'))).toMatch(/^Told: .*time_zone/s)
  })
})
