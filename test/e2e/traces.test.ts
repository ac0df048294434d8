import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { context, propagation, ROOT_CONTEXT, SpanKind, type Tracer, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCollector } from '#local/traces/collector.ts'
import type { ReceivedSpan } from '#local/traces/otlp.ts'
import { buildTree, formatTrace, type SpanNode } from '#local/traces/tree.ts'
import { type Receiver, startReceiver } from '#testkit/receiver.ts'
import { DEEP } from '#testkit/sampling.ts'
import { pythonWith, SCRIPTS } from './python.ts'
import { must, until } from './support.ts'
import { usingOwnLocal } from './using-local.ts'

const found = DEEP
  ? await pythonWith('python-traces', ['opentelemetry-sdk==1.38.0', 'opentelemetry-exporter-otlp-proto-http==1.38.0'])
  : { missing: 'part of npm run test:deep' }
const missing = 'missing' in found ? ` (not run: ${found.missing})` : ''

const received: ReceivedSpan[] = []
const collector = await startCollector(0, (spans) => received.push(...spans))
const provider = new NodeTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${collector.address}/v1/traces` }))],
})
provider.register()

const running = usingOwnLocal(() => ({ shell: { TRACES_ENDPOINT: collector.address } }))
const opened: Receiver[] = []
const children: ChildProcess[] = []

/** Sends a request with the headers of the active trace, as an instrumented client does. */
const call = (method: string, to: string, token: string, body?: unknown, headers: Record<string, string> = {}) => {
  propagation.inject(context.active(), headers)
  return must(running.baseUrl, method, to, { token, headers, ...(body !== undefined && { body }) })
}

interface Execute {
  run: { id: string }
  callback: { token: string }
}

/** Starts a server that handles each request within a span, which continues the trace of its headers. */
const tracedServer = async (name: string, handle: (body: Execute) => Promise<unknown>): Promise<Receiver> => {
  const tracer: Tracer = provider.getTracer(name)
  const server = await startReceiver()
  opened.push(server)
  server.answer((request) =>
    tracer.startActiveSpan(
      name,
      { kind: SpanKind.SERVER },
      propagation.extract(ROOT_CONTEXT, request.headers),
      async (span) => {
        const answer = await handle(JSON.parse(request.body.toString()))
        span.end()
        return {
          kind: 'answer' as const,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(answer ?? null),
        }
      },
    ),
  )
  return server
}

const SCOPES = ['runs:read', 'runs:write', 'tools:invoke', 'webhooks:manage', 'agents:read']
let developer: Record<string, string>

/** Publishes an agent next to the others, in their developer's sandbox. */
const publish = async (slug: string, endpoint: string): Promise<string> => {
  const headers = developer
  const app = await must(running.baseUrl, 'POST', '/api/v1/dev/apps', {
    headers,
    body: { slug, name: slug, type: 'agent', requested_scopes: SCOPES },
  })
  await must(running.baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions`, {
    headers,
    body: {
      id: `vendor-traces.${slug}`,
      version: '1.0.0',
      name: slug,
      summary: 'An agent of the tests.',
      runtime: { type: 'webhook', endpoint },
      tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
    },
  })
  await must(running.baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/versions/1.0.0/promote`, { headers })
  return (await must(running.baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, { headers })).access_token
}

/** Returns an agent's behaviour: it asks another agent with the token of its run. */
const asking =
  (agent: string) =>
  async ({ callback }: Execute) => {
    const { result } = await call('POST', '/api/v1/tools/ask_agent/invoke', callback.token, {
      arguments: { agent, tool: 'look', arguments: {} },
    })
    return { status: 'succeeded', output: { next: result } }
  }

/** Returns an agent's behaviour: it sends another agent a message over A2A with the token of its run. */
const messaging =
  (installation: () => string) =>
  async ({ callback }: Execute) => {
    const parts = [{ data: { skill: 'look', arguments: {} } }]
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts }
    const params = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    const to = `/a2a/agents/${installation()}/rpc`
    const { result } = await call('POST', to, callback.token, params, { 'a2a-version': '1.0' })
    return { status: 'succeeded', output: { next: result } }
  }

/** Starts the agent in Python, which asks another one if it is given its name. */
const pythonAgent = async (given: { name: string; asks?: string }): Promise<string> => {
  const { python } = found as { python: string }
  const args = [path.join(SCRIPTS, 'traced_agent.py'), JSON.stringify({ ...given, traces: collector.address })]
  const env = { ...process.env, NO_PROXY: '*' }
  const child = spawn(python, args, { stdio: ['pipe', 'pipe', 'inherit'], env })
  children.push(child)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return JSON.parse(line).url
}

beforeAll(async () => {
  const registered = await must(running.baseUrl, 'POST', '/api/v1/dev/register', {
    body: { email: 'dev-traces@example.com', name: 'Ada' },
  })
  developer = { 'x-developer-key': registered.api_key }
})
afterAll(async () => {
  for (const child of children) child.stdin?.end()
  await Promise.all(opened.map((one) => one.close()))
  await provider.shutdown()
  await collector.stop()
  trace.disable()
  context.disable()
  propagation.disable()
})

/** Starts a run of the first of three agents under a client's span, and waits for the trace's last webhook. */
const traceOfRun = async (last: string, lastUrl: string) => {
  const [first, second] = [`first-${last}`, `second-${last}`]
  const one = await tracedServer(first, asking(second))
  const two = await tracedServer(second, asking(last))
  const token = await publish(first, one.url)
  await publish(second, two.url)
  await publish(last, lastUrl)
  const hook = await tracedServer(`webhook of ${last}`, async () => undefined)
  await call('POST', '/api/v1/webhooks', token, { url: hook.url, events: ['run.succeeded'] })
  const traceId = await provider.getTracer('client').startActiveSpan('client', async (span) => {
    const baggage = propagation.createBaggage({ tier: { value: 'gold' } })
    await context.with(propagation.setBaggage(context.active(), baggage), () =>
      call('POST', '/api/v1/runs', token, { input: {} }),
    )
    span.end()
    return span.spanContext().traceId
  })
  const ofTrace = () => received.filter((span) => span.traceId === traceId)
  await until(() => ofTrace().find(({ name }) => name === `webhook of ${last}`))
  // The delivery's own spans are exported when its invocation ends.
  await running.platform.idle()
  return { spans: ofTrace(), agents: [one, two], hook }
}

/** Starts a run under a client's span. @returns the trace once nothing more happens */
const traceOf = async (name: string, start: () => Promise<unknown>): Promise<ReceivedSpan[]> => {
  const traceId = await provider.getTracer('client').startActiveSpan(name, async (span) => {
    await start()
    span.end()
    return span.spanContext().traceId
  })
  const ofTrace = () => received.filter((span) => span.traceId === traceId)
  await until(() => ofTrace().find(({ name: one }) => one === 'sender'))
  await running.platform.idle()
  return ofTrace()
}

const flat = (node: SpanNode): string[] => [node.span.name, ...node.children.flatMap(flat)]
const childOf = (node: SpanNode | undefined, name: string): SpanNode | undefined =>
  node?.children.find(({ span }) => span.name === name)

describe('a run across three agents', () => {
  it('is one tree without orphans, from the first request to the last webhook', async () => {
    const last = await tracedServer('last', async ({ run, callback }) => {
      await call('POST', `/api/v1/runs/${run.id}/steps`, callback.token, {
        steps: [{ type: 'message', output: { text: 'Hello.' } }],
      })
      return { status: 'succeeded', output: {} }
    })
    const { spans, agents, hook } = await traceOfRun('last', last.url)
    const [root, ...orphans] = buildTree(spans)
    expect(orphans.map(({ span }) => span.name)).toEqual([])
    expect(root?.span.name).toBe('client')
    const request = childOf(root, 'POST /api/v1/runs')
    const sent = childOf(childOf(request, 'dispatch'), 'invoke_agent first-last')
    const asked = childOf(childOf(sent, 'first-last'), 'POST /api/v1/tools/{name}/invoke')
    expect(asked && flat(asked)).toEqual(
      expect.arrayContaining(['second-last', 'last', 'POST /api/v1/runs/{id}/steps']),
    )
    expect(root && flat(root)).toEqual(
      expect.arrayContaining(['fan-out', 'statistics', 'delivery', 'webhook run.succeeded']),
    )
    expect(new Set(spans.map(({ service }) => service))).toContain('agent-platform')
    expect(formatTrace(spans)).toMatch(/^trace [0-9a-f]{32}: \d+ spans, \d+ ms\nclient /)

    // Baggage is for agents, along the chain, and for nobody else.
    for (const { requests } of [...agents, last]) expect(requests[0]?.headers.baggage).toBe('tier=gold')
    expect(hook.requests[0]?.headers).toMatchObject({ traceparent: expect.stringContaining(root?.span.traceId ?? '') })
    expect(hook.requests[0]?.headers.baggage).toBeUndefined()
  })

  it('is in every log line of its work', async () => {
    const span = received.find(({ name }) => name === 'webhook run.succeeded')
    const lines = running.logs.flatMap((entry) =>
      entry.kind === 'function' && entry.line.startsWith('{') ? [JSON.parse(entry.line)] : [],
    )
    const joined = lines.filter(({ trace_id }) => trace_id === span?.traceId)
    expect(joined.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['request', 'run.execute', 'webhook delivery']),
    )
  })

  it.skipIf(missing !== '')(`is one tree with an agent in Python${missing}`, async () => {
    const { spans } = await traceOfRun('python', await pythonAgent({ name: 'python' }))
    const [root, ...orphans] = buildTree(spans)
    expect(orphans.map(({ span }) => span.name)).toEqual([])
    expect(root && flat(root)).toEqual(expect.arrayContaining(['python', 'POST /api/v1/runs/{id}/steps']))
    expect(spans.find(({ name }) => name === 'python')?.service).toBe('python-agent')
  })

  it.skipIf(missing !== '')(
    `is one tree across two languages, A2A and the platform’s tools: an agent in Python is sent a message, and asks a third${missing}`,
    async () => {
      const last = await tracedServer('third', async () => ({ status: 'succeeded', output: { found: 3 } }))
      let installation = ''
      const first = await tracedServer(
        'sender',
        messaging(() => installation),
      )
      const token = await publish('sender', first.url)
      const middle = await publish('middle', await pythonAgent({ name: 'middle', asks: 'third' }))
      installation = (await must(running.baseUrl, 'GET', '/api/v1/me', { token: middle })).installation.id
      await publish('third', last.url)
      const spans = await traceOf('third client', () => call('POST', '/api/v1/runs', token, { input: {} }))
      const [root, ...orphans] = buildTree(spans)
      expect(orphans.map(({ span }) => span.name)).toEqual([])
      const sent = childOf(childOf(childOf(root, 'POST /api/v1/runs'), 'dispatch'), 'run.execute')
      const message = childOf(childOf(sent, 'sender'), 'POST /a2a/agents/{id}/rpc')
      const inPython = childOf(childOf(childOf(message, 'dispatch'), 'run.execute'), 'middle')
      expect(inPython?.span.service).toBe('python-agent')
      const asked = childOf(inPython, 'POST /api/v1/tools/{name}/invoke')
      expect(asked && flat(asked)).toEqual(expect.arrayContaining(['dispatch', 'run.execute', 'third']))
      if (process.env.SHOW_TRACE) console.log(formatTrace(spans))
    },
  )
})
