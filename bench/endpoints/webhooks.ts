import type { Scenario } from './scenario.ts'
import type { Installed, Stage } from './stage.ts'

const subscribe = async (stage: Stage, app: Installed): Promise<string> => {
  const { body } = await stage.call('POST', '/api/v1/webhooks', {
    token: app.token,
    body: { url: `${stage.agent.url}/hook`, events: ['run.*'], description: 'bench' },
  })
  return body.id
}

/** A request about a subscription that has had a few deliveries. */
const aboutWebhook = (endpoint: string, suffix = '', runs = 0): Scenario => ({
  endpoint,
  async prepare(stage) {
    const app = await stage.install()
    const id = await subscribe(stage, app)
    await stage.finishedRuns(app, runs)
    const [method = ''] = endpoint.split(' ')
    return () => stage.call(method, `/api/v1/webhooks/${id}${suffix}`, { token: app.token })
  },
})

export const webhookScenarios: Scenario[] = [
  {
    endpoint: 'POST /api/v1/webhooks',
    async prepare(stage) {
      const { token } = await stage.install()
      const body = { url: `${stage.agent.url}/hook`, events: ['run.*'] }
      return () => stage.call('POST', '/api/v1/webhooks', { token, body })
    },
  },
  {
    endpoint: 'GET /api/v1/webhooks',
    async prepare(stage) {
      const app = await stage.install()
      await subscribe(stage, app)
      return () => stage.call('GET', '/api/v1/webhooks', { token: app.token })
    },
  },
  aboutWebhook('POST /api/v1/webhooks/{id}/test', '/test'),
  aboutWebhook('POST /api/v1/webhooks/{id}/enable', '/enable'),
  aboutWebhook('GET /api/v1/webhooks/{id}/deliveries', '/deliveries?limit=20', 10),
  aboutWebhook('POST /api/v1/webhooks/{id}/rotate-secret', '/rotate-secret'),
  {
    endpoint: 'POST /api/v1/webhooks/{id}/recover',
    async prepare(stage) {
      const app = await stage.install()
      const id = await subscribe(stage, app)
      const since = new Date(stage.platform.clock.now() - 60_000).toISOString()
      return () => stage.call('POST', `/api/v1/webhooks/${id}/recover`, { token: app.token, body: { since } })
    },
  },
  {
    endpoint: 'POST /api/v1/webhooks/{id}/deliveries/{delivery}/redeliver',
    async prepare(stage) {
      const app = await stage.install()
      const id = await subscribe(stage, app)
      await stage.finishedRuns(app, 1)
      const { body } = await stage.call('GET', `/api/v1/webhooks/${id}/deliveries`, { token: app.token })
      const path = `/api/v1/webhooks/${id}/deliveries/${body.items[0].id}/redeliver`
      return () => stage.call('POST', path, { token: app.token })
    },
  },
  aboutWebhook('DELETE /api/v1/webhooks/{id}'),
  {
    endpoint: 'GET /api/v1/events',
    async prepare(stage) {
      const app = await stage.install()
      await stage.finishedRuns(app, 10)
      const { body } = await stage.call('GET', '/api/v1/events?limit=5', { token: app.token })
      const since = body.items.at(-1).id
      return () => stage.call('GET', `/api/v1/events?since=${since}&limit=20`, { token: app.token })
    },
  },
]
