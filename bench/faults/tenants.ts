import { randomBytes } from 'node:crypto'
import type { PatientClient } from './client.ts'
import type { Kind } from './kinds.ts'
import type { Receivers } from './receivers.ts'

/** Subscription as the API returned it, and its URL. */
export interface Subscribed {
  id: string
  url: string
  /** Event masks. */
  events: string[]
  kind: Kind
}

/** Installation whose events are produced. */
export interface Tenant {
  /** Headers of its integration. */
  headers: Record<string, string>
  installation_id: string
  workspace_id: string
  app_id: string
  subscriptions: Subscribed[]
}

/** Creates a developer's agent in their sandbox with a subscription for every kind of receiver, all through the API. */
export const createTenant = async (
  call: PatientClient,
  receivers: Receivers,
  kinds: readonly Kind[],
  index: number,
): Promise<Tenant> => {
  const unique = randomBytes(5).toString('hex')
  const registration = { email: `faults-${unique}@example.com`, name: 'Ada' }
  const { api_key } = await call('POST', '/api/v1/dev/register', { body: registration })
  const developer = { 'x-developer-key': api_key }
  const app = await call('POST', '/api/v1/dev/apps', {
    headers: developer,
    body: {
      slug: `faults-${unique}`,
      type: 'agent',
      name: 'Faults',
      requested_scopes: ['tools:invoke', 'webhooks:manage'],
    },
  })
  await call('POST', `/api/v1/dev/apps/${app.id}/versions`, {
    headers: developer,
    body: {
      id: `faults-${unique}.faults-${unique}`,
      version: '1.0.0',
      name: 'Faults',
      summary: 'Tells of events.',
      // It is never run.
      runtime: { type: 'webhook', endpoint: 'http://127.0.0.1:9' },
    },
  })
  const { access_token } = await call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`, { headers: developer })
  const headers = { authorization: `Bearer ${access_token}` }
  const me = await call('GET', '/api/v1/me', { headers })
  const subscriptions: Subscribed[] = []
  const subscribe = async (kind: Kind, url: string, events: string[]) => {
    const { id } = await call('POST', '/api/v1/webhooks', { headers, body: { url, events } })
    subscriptions.push({ id, url, events, kind })
  }
  for (const kind of kinds) await subscribe(kind, receivers.urlOf(kind, index), [`custom.${kind.name}`])
  // All events of the first installation also go to another receiver, including those that the platform emits by itself.
  const [well] = kinds
  if (index === 0 && well) await subscribe(well, `${receivers.urlOf(well, index)}/everything`, ['*'])
  return {
    headers,
    installation_id: me.installation.id,
    workspace_id: me.workspace.id,
    app_id: me.app.id,
    subscriptions,
  }
}
