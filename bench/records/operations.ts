import { FeedEntryEntity } from '#shared/delivery/feed/entity.ts'
import type { Stage } from '../endpoints/stage.ts'
import type { World } from '../lists/world.ts'

/** Operation that is measured at each number of records. */
export interface Operation {
  name: string
  run(): Promise<unknown>
  /** Cleans up for the next call. Not measured. */
  after?(result: unknown): Promise<unknown>
}

const PAGE = 'limit=20'

/** Returns the most frequent operations of agents, receivers and the platform. They look up their records when they run. */
export const operationsOf = async (stage: Stage, world: World): Promise<Operation[]> => {
  const { token } = world
  const get = (path: string) => stage.call('GET', path, { token })
  const { body: runs } = await get('/api/v1/runs?limit=100')
  const { items: feed } = await stage.platform.deps.table.query(
    FeedEntryEntity,
    { installation_id: world.installation.id },
    { limit: 100 },
  )
  const since = feed.at(-1)?.event_id
  const run = runs.items.at(-1).id
  return [
    { name: 'a token (GET /api/v1/me)', run: () => get('/api/v1/me') },
    {
      name: 'POST /api/v1/runs',
      run: () => stage.call('POST', '/api/v1/runs', { token, body: { input: { name: 'Ada' }, trigger: 'bench' } }),
      after: (started) =>
        stage.call('POST', `/api/v1/runs/${(started as { body: { id: string } }).body.id}/cancel`, { token }),
    },
    { name: 'GET /api/v1/runs/{id}', run: () => get(`/api/v1/runs/${run}`) },
    { name: 'GET /api/v1/runs: 20 of them', run: () => get(`/api/v1/runs?${PAGE}`) },
    { name: 'GET /api/v1/runs: 20 with one status', run: () => get(`/api/v1/runs?${PAGE}&status=failed`) },
    { name: 'GET /api/v1/events: since one', run: () => get(`/api/v1/events?${PAGE}&since=${since}`) },
    {
      name: 'GET /api/v1/webhooks/{id}/deliveries: 20 of them',
      run: () => get(`/api/v1/webhooks/${world.webhookId}/deliveries?${PAGE}`),
    },
    { name: 'the sweep, nothing due', run: () => stage.platform.sweep() },
  ]
}
