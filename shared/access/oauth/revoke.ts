import type { App } from '#shared/catalogue/apps/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { endGrant } from '../grants/revoke-chain.ts'
import { readPresentedToken } from './presented-token.ts'

/** The response body is empty: the status says everything (RFC 7009 §2.2). */
const DONE = {}

/**
 * Handles `POST /oauth/revoke`: a client gives up its grant. Any token of a chain ends the grant, and with it every refresh
 * and access token of the chain (RFC 7009 §2.1). An access token has no record of its own that could end alone, and a
 * client that revokes one is done with the customer. A rotated refresh token counts too, because it names the chain to
 * end. That isn't reuse, so the customer isn't notified.
 *
 * Unknown and expired tokens, and those of other clients, change nothing and get the same response (RFC 7009 §2.2).
 */
export const revokeToken = async (work: Work, app: App, token: string): Promise<object> => {
  const presented = await readPresentedToken(work, app, token)
  if (!presented) return DONE
  await endGrant(work, presented, { reason: 'client_request' }, (writes) => work.commit(writes, DONE))
  return DONE
}
