import type { App } from '../../entities/apps.ts'
import { ifUnchanged } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { readPresented } from './presented-token.ts'
import { endOfGrant } from './revoke-chain.ts'

/** The content of the answer says nothing: all is in the status (RFC 7009 §2.2). */
const DONE = {}

/**
 * `POST /oauth/revoke`: a client gives back what it was granted. Whichever token of a chain it presents, the grant ends,
 * and with it every refresh and access token of the chain (RFC 7009 §2.1): an access token has no record of its own that
 * could end alone, and a client that gives one back is done with the customer. A refresh token that was already rotated
 * counts too, because it names the chain that the client wants ended; this is no reuse, nobody is alarmed.
 *
 * What is unknown, expired or another client's is left alone, and the answer is the same (RFC 7009 §2.2).
 */
export const revoke = async (work: Work, app: App, token: string): Promise<object> => {
  const presented = await readPresented(work, app, token)
  if (!presented) return DONE
  // Unless it had ended before, or another request has just ended it.
  await ifUnchanged(work.commit(endOfGrant(work, presented, 'client_request'), DONE))
  return DONE
}
