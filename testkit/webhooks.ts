import { emitEvent } from '#shared/foundation/outbox/outbox.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { type Installed, type InstalledOptions, installed } from './fixtures.ts'
import { succeeded, type TestPlatform } from './platform.ts'
import type { Received } from './receiver.ts'

/** Creates an installed app with helpers for tests of events and webhooks. */
export const subscriber = async (platform: TestPlatform, options: InstalledOptions = {}) =>
  subscribing(platform, await installed(platform.deps, options))

/** Adds these helpers to an installed app. */
export const subscribing = <T extends Installed>(platform: TestPlatform, app: T) => {
  const { id: installation_id, workspace_id, app_id } = app.installation

  /**
   * Calls the API as the integration. The clock advances, so that the rate limit doesn't interfere. The token is new, because tests
   * wait longer than a token lives.
   */
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    platform.clock.advance(100)
    const { token } = await issueToken(platform.deps, 'access', {
      ins: installation_id,
      ws: workspace_id,
      app: app_id,
      grt: app.grant.id,
      sv: 1,
    })
    return platform.call(method, `/api/v1${path}`, { token, body, headers })
  }

  return {
    ...app,
    call,
    subscribe: (url: string, events: string[] = ['*']): Promise<{ id: string; secret: string; status: string }> =>
      succeeded(call('POST', '/webhooks', { url, events })),
    /** Emits a custom event, as a change of the installation would. */
    emit: async (type: string, data: Record<string, unknown> = {}): Promise<string> => {
      const write = emitEvent(platform.clock, { type: `custom.${type}`, workspace_id, installation_id, app_id, data })
      await platform.deps.table.transact([write])
      return String(write.item?.id)
    },
    webhook: async (id: string) => {
      const { body } = await call('GET', '/webhooks')
      return body.items.find((one: { id: string }) => one.id === id)
    },
    deliveries: async (id: string) => (await call('GET', `/webhooks/${id}/deliveries?limit=100`)).body.items,
    /** Reads the whole feed, page by page. */
    feed: async (query = '') => {
      const items: { id: string; type: string; data: Record<string, unknown> }[] = []
      let cursor: string | null = null
      do {
        const { body } = await call('GET', `/events?limit=100${query}${cursor ? `&cursor=${cursor}` : ''}`)
        items.push(...body.items)
        cursor = body.next_cursor
      } while (cursor)
      return items
    },
  }
}

export const header = (request: Received, name: string): string => String(request.headers[name])
