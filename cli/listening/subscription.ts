import type { Api } from '../api.ts'
import { listWebhooks, sandboxToken } from '../sandbox.ts'

interface Subscription {
  id: string
  secret: string
  /** Removes the subscription. Never fails: the next listener takes over what is left. */
  end(): Promise<void>
}

/**
 * Subscribes the sandbox installation to event types while a listener runs. The address doesn't exist, because the listener
 * gets the deliveries. A subscription that a killed listener left is used again, with a new secret.
 */
export const subscribeTemporarily = async (
  api: Api,
  appId: string,
  events: readonly string[],
): Promise<Subscription> => {
  const token = await sandboxToken(api, appId)
  const url = `https://listen.example.com/${appId}`
  const left = (await listWebhooks(api, token)).find((webhook) => webhook.url === url)
  const { id, secret } = left
    ? await renew(api, token, left.id, events)
    : await api.insist('POST', '/api/v1/webhooks', {
        token,
        body: { url, events, description: 'Made by aip listen, and removed when it ends.' },
      })
  return {
    id,
    secret,
    async end() {
      try {
        // The first token may have ended.
        const fresh = await sandboxToken(api, appId)
        await api.call('DELETE', `/api/v1/webhooks/${id}`, { token: fresh, signal: AbortSignal.timeout(3_000) })
      } catch {}
    },
  }
}

const renew = async (api: Api, token: string, id: string, events: readonly string[]) => {
  await api.insist('PATCH', `/api/v1/webhooks/${id}`, { token, body: { events, status: 'active' } })
  const { secret } = await api.insist('POST', `/api/v1/webhooks/${id}/rotate-secret`, { token })
  return { id, secret }
}
