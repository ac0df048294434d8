import { resolveUrl } from '../../../session/config.ts'
import { session } from '../../../session/session.ts'

/**
 * Sends a request while the page is going away. It must leave before the handler returns, so it doesn't use the client, which
 * prepares requests asynchronously. Nobody is there to see the response.
 */
export const sendAtOnce = (path: string, body: object): void => {
  const token = session()?.token
  if (!token) return
  void fetch(resolveUrl(path), {
    method: 'POST',
    keepalive: true,
    credentials: 'omit',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
    },
    body: JSON.stringify(body),
  }).catch(() => {})
}
