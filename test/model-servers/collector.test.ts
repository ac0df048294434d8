import { execFile } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeEach, expect, it, vi } from 'vitest'
import { freePort } from '#local/free-port.ts'
import { startCollector } from '#local/traces/collector.ts'
import type { ReceivedSpan } from '#local/traces/otlp.ts'
import { buildTree } from '#local/traces/tree.ts'
import { createTraces } from '#shared/adapters/traces.ts'
import { MODEL_KEY } from '#testkit/model-server.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { using, usingModel } from '#testkit/using.ts'
import { until } from '../e2e/support.ts'
import { usingOwnLocal } from '../e2e/using-local.ts'
import { askedAgent, startServer, TURNS } from './support.ts'

const TOKEN = 'key-of-the-collector'
const MODULES = `module example.com/collector

go 1.25

require (
	github.com/open-telemetry/opentelemetry-collector-contrib/extension/bearertokenauthextension v0.165.1
	go.opentelemetry.io/collector/component v1.71.0
	go.opentelemetry.io/collector/confmap v1.71.0
	go.opentelemetry.io/collector/confmap/provider/fileprovider v1.71.0
	go.opentelemetry.io/collector/exporter v1.71.0
	go.opentelemetry.io/collector/exporter/otlphttpexporter v0.165.0
	go.opentelemetry.io/collector/extension v1.71.0
	go.opentelemetry.io/collector/otelcol v0.165.0
	go.opentelemetry.io/collector/receiver v1.71.0
	go.opentelemetry.io/collector/receiver/otlpreceiver v0.165.0
	go.opentelemetry.io/collector/service v0.165.0
)
`

const place = scratchFolder('collector-')
const received: ReceivedSpan[] = []
/** Takes what the collector passes on. */
const target = await startCollector(0, (spans) => received.push(...spans))
beforeEach(() => received.splice(0))
afterAll(() => target.stop())
afterAll(() => place.remove())

/** The OpenTelemetry Collector, with an open receiver and one that wants a token. */
const collector = using(
  async () => {
    const { folder } = place
    writeFileSync(path.join(folder, 'go.mod'), MODULES)
    cpSync(path.join(import.meta.dirname, 'collector/main.go'), path.join(folder, 'main.go'))
    const env = { ...process.env, GOFLAGS: '-mod=mod' }
    await promisify(execFile)('go', ['build', '-p', '1', '-o', 'collector', '.'], { cwd: folder, env })
    const [open, locked] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
    const config = path.join(folder, 'config.json')
    const http = (endpoint: string, more: object = {}) => ({ protocols: { http: { endpoint, ...more } } })
    writeFileSync(
      config,
      JSON.stringify({
        extensions: { bearertokenauth: { token: TOKEN } },
        receivers: {
          otlp: http(open),
          'otlp/locked': http(locked, { auth: { authenticator: 'bearertokenauth' } }),
        },
        exporters: { otlp_http: { endpoint: target.address } },
        service: {
          extensions: ['bearertokenauth'],
          telemetry: { logs: { level: 'error' }, metrics: { level: 'none' } },
          pipelines: { traces: { receivers: ['otlp', 'otlp/locked'], exporters: ['otlp_http'] } },
        },
      }),
    )
    const server = await startServer(path.join(folder, 'collector'), ['--config', config], () =>
      fetch(`http://${locked}/`),
    )
    return { open: `http://${open}`, locked: `http://${locked}`, stop: server.stop }
  },
  (running) => running.stop(),
)
const model = usingModel()
const running = usingOwnLocal(() => ({
  shell: { MODEL_API_URL: model.url, MODEL_NAME: 'small', MODEL_API_KEY: MODEL_KEY, TRACES_ENDPOINT: collector.open },
}))

it('the OpenTelemetry Collector passes on the spans of a run as one trace, from the request to the model', async () => {
  model.next(...TURNS)
  const { run } = await askedAgent(running)
  const agent = () => received.find(({ attributes }) => attributes['platform.run_id'] === run.id)
  const ofTrace = () => received.filter(({ traceId }) => traceId === agent()?.traceId)
  const isWhole = () => ofTrace().filter(({ name }) => name === 'chat small').length === 2
  // The collector may pass batches on in another order.
  await until(() => (isWhole() && buildTree(ofTrace()).length === 1) || undefined, 30_000).catch(() => {})
  const [root, ...orphans] = buildTree(ofTrace())
  expect(orphans.map(({ span }) => span.name)).toEqual([])
  expect(root?.span.name).toBe('POST /console/conversations/{id}/messages')
  expect(ofTrace().map(({ name }) => name)).toEqual(
    expect.arrayContaining(['invoke_agent Agent', 'chat small', 'execute_tool workspace_info']),
  )
})

it('the OpenTelemetry Collector takes spans with the header that it wants, and without it they are logged as lost', async () => {
  const send = async (headers: Record<string, string>) => {
    const warn = vi.fn()
    const traces = createTraces({
      endpoint: collector.locked,
      share: 1,
      headers: async () => headers,
      resource: { 'service.name': 'agent-platform' },
      log: { warn },
    })
    await traces.export([
      {
        traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
        spanId: '00f067aa0ba902b7',
        parentSpanId: undefined,
        state: undefined,
        name: 'look',
        kind: 'internal',
        startedAt: Date.now(),
        endedAt: Date.now(),
        attributes: {},
        failed: false,
      },
    ])
    return warn.mock.calls
  }
  expect(await send({ authorization: `Bearer ${TOKEN}` })).toEqual([])
  await until(() => received.find(({ name }) => name === 'look'))
  const [warning] = await send({})
  expect(warning).toEqual(['spans were not exported', expect.objectContaining({ spans: 1 })])
  expect(String(warning?.[1].error)).toContain('HTTP 401')
})
