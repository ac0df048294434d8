import { randomUUID } from 'node:crypto'
import type { Scenario } from './scenario.ts'

const PAGE = 20

const start = { input: { name: 'Ada', question: 'How many are left?' }, trigger: 'bench' }

/** Lists a page of an installation's runs, with more to follow. */
const runs = (variant: string, filter = ''): Scenario => ({
  endpoint: 'GET /api/v1/runs',
  variant,
  async prepare(stage) {
    const app = await stage.install()
    await stage.finishedRuns(app, PAGE + 1)
    return { send: () => stage.call('GET', `/api/v1/runs?limit=${PAGE}${filter}`, { token: app.token }) }
  },
})

export const integrationScenarios: readonly Scenario[] = [
  {
    endpoint: 'POST /api/v1/runs',
    async prepare(stage) {
      const { token } = await stage.install()
      return { send: () => stage.call('POST', '/api/v1/runs', { token, body: start }) }
    },
  },
  {
    endpoint: 'POST /api/v1/runs',
    variant: 'with an Idempotency-Key',
    async prepare(stage) {
      const { token } = await stage.install()
      const headers = { 'idempotency-key': randomUUID() }
      return { send: () => stage.call('POST', '/api/v1/runs', { token, headers, body: start }) }
    },
  },
  runs(`${PAGE} of them`),
  runs(`${PAGE} with one status`, '&status=succeeded'),
  {
    endpoint: 'GET /api/v1/webhooks/{id}/deliveries',
    variant: `${PAGE} of them`,
    async prepare(stage) {
      const app = await stage.install()
      const { body } = await stage.call('POST', '/api/v1/webhooks', {
        token: app.token,
        body: { url: `${stage.agent.url}/hook`, events: ['run.*'] },
      })
      await stage.finishedRuns(app, PAGE / 2 + 1)
      const path = `/api/v1/webhooks/${body.id}/deliveries?limit=${PAGE}`
      return { send: () => stage.call('GET', path, { token: app.token }) }
    },
  },
  {
    endpoint: 'GET /api/v1/events',
    variant: 'since an earlier one',
    async prepare(stage) {
      const app = await stage.install()
      await stage.finishedRuns(app, 10)
      const { body } = await stage.call('GET', '/api/v1/events?limit=5', { token: app.token })
      const since = body.items.at(-1).id
      return { send: () => stage.call('GET', `/api/v1/events?since=${since}&limit=${PAGE}`, { token: app.token }) }
    },
  },
]
