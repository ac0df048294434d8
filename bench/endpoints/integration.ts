import { randomUUID } from 'node:crypto'
import type { Scenario } from './scenario.ts'
import type { Installed, Stage } from './stage.ts'

const PAGE = 20

/** A request with the access token of an installation. */
const asIntegration = (
  endpoint: string,
  path: (stage: Stage, app: Installed) => Promise<[path: string, body?: unknown]> | [path: string, body?: unknown],
  variant?: string,
): Scenario => ({
  endpoint,
  ...(variant && { variant }),
  async prepare(stage) {
    const app = await stage.install()
    const [target, body] = await path(stage, app)
    const [method = ''] = endpoint.split(' ')
    return () => stage.call(method, target, { token: app.token, ...(body !== undefined && { body }) })
  },
})

/** A request of a running run's agent, with its callback token. */
const asAgent = (
  endpoint: string,
  request: (stage: Stage, run: { id: string; token: string }) => [path: string, body?: unknown],
  variant?: string,
): Scenario => ({
  endpoint,
  ...(variant && { variant }),
  async prepare(stage) {
    const app = await stage.install({ endpoint: `${stage.agent.url}/slow` })
    const run = await stage.runningRun(app)
    const [path, body] = request(stage, run)
    return () => stage.call('POST', path, { token: run.token, ...(body !== undefined && { body }) })
  },
})

const start = { input: { name: 'Ada', question: 'How many are left?' }, trigger: 'bench' }
const invoke = 'POST /api/v1/tools/{name}/invoke'

export const integrationScenarios: Scenario[] = [
  asIntegration('GET /api/v1/me', () => ['/api/v1/me']),
  asIntegration('GET /api/v1/manifest', () => ['/api/v1/manifest']),
  asIntegration('POST /api/v1/runs', () => ['/api/v1/runs', start]),
  {
    endpoint: 'POST /api/v1/runs',
    variant: 'with an Idempotency-Key',
    async prepare(stage) {
      const { token } = await stage.install()
      const headers = { 'idempotency-key': randomUUID() }
      return () => stage.call('POST', '/api/v1/runs', { token, headers, body: start })
    },
  },
  asIntegration(
    'GET /api/v1/runs',
    async (stage, app) => {
      await stage.finishedRuns(app, PAGE + 1)
      return [`/api/v1/runs?limit=${PAGE}`]
    },
    `${PAGE} of them`,
  ),
  asIntegration(
    'GET /api/v1/runs',
    async (stage, app) => {
      await stage.finishedRuns(app, PAGE + 1)
      return [`/api/v1/runs?status=succeeded&limit=${PAGE}`]
    },
    `${PAGE} with one status`,
  ),
  asIntegration('GET /api/v1/runs/{id}', async (stage, app) => {
    const [id] = await stage.finishedRuns(app, 1)
    return [`/api/v1/runs/${id}`]
  }),
  asAgent('POST /api/v1/runs/{id}/steps', (_, { id }) => [
    `/api/v1/runs/${id}/steps`,
    { type: 'message', output: { text: 'Looking it up.' } },
  ]),
  asAgent('POST /api/v1/runs/{id}/complete', (_, { id }) => [
    `/api/v1/runs/${id}/complete`,
    { status: 'succeeded', output: { text: 'Three are left.' }, cost_units: 1 },
  ]),
  asAgent('POST /api/v1/runs/{id}/cancel', (_, { id }) => [`/api/v1/runs/${id}/cancel`]),
  asAgent('POST /api/v1/runs/{id}/callback-token', (_, { id }) => [`/api/v1/runs/${id}/callback-token`]),
  asIntegration('GET /api/v1/tools', () => ['/api/v1/tools']),
  asAgent(invoke, () => ['/api/v1/tools/workspace_info/invoke', {}], 'workspace_info'),
  asAgent(invoke, () => ['/api/v1/tools/list_runs/invoke', {}], 'list_runs'),
  asAgent(
    invoke,
    () => ['/api/v1/tools/emit_event/invoke', { arguments: { type: 'stock.low', data: { left: 3 } } }],
    'emit_event',
  ),
  asAgent(
    invoke,
    (stage) => ['/api/v1/tools/http_fetch/invoke', { arguments: { url: `${stage.agent.url}/page` } }],
    'http_fetch, asks for approval',
  ),
  {
    endpoint: invoke,
    variant: 'http_fetch, takes the result',
    async prepare(stage) {
      const app = await stage.install({ endpoint: `${stage.agent.url}/slow` })
      const run = await stage.runningRun(app)
      const ask = () =>
        stage.call('POST', '/api/v1/tools/http_fetch/invoke', {
          token: run.token,
          body: { arguments: { url: `${stage.agent.url}/page` } },
        })
      const { body } = await ask()
      await stage.call('POST', `/console/runs/${run.id}/steps/${body.step_id}/decision`, {
        token: app.person.token,
        body: { decision: 'approve' },
      })
      await stage.platform.drain()
      return ask
    },
  },
]
