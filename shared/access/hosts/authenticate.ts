import { ASSERTION_TYPE, claimedClient } from '#shared/access/assertions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isHostClientId } from '#shared/kernel/host-resources.ts'
import { verifyAssertion } from './assertion.ts'
import { loadCurrentHostClient, resolveHostClient } from './clients.ts'
import type { HostClient } from './entity.ts'

/**
 * Identifies a host at the token endpoints: by its public id, or by its key if its document says so. `client_id` may be left out
 * if there is an assertion (RFC 7521 §4.2).
 * @param body parameters of the request
 * @param options.mayBeNew reads the document of a host that nobody has used yet
 * @param options.beforeReading see `resolveHostClient`
 * @throws `invalid_client`, `rate_limited`
 */
export const authenticateHost = async (
  deps: Pick<Deps, 'table' | 'clock' | 'http' | 'settings'>,
  { client_id, client_assertion, client_assertion_type, client_secret }: Readonly<Record<string, unknown>>,
  { mayBeNew, beforeReading }: { mayBeNew: boolean; beforeReading(): Promise<void> },
): Promise<HostClient> => {
  const id = client_id || claimedClient(client_assertion)
  const known = isHostClientId(id) ? await loadCurrentHostClient(deps, id, beforeReading) : undefined
  const client =
    known ?? (mayBeNew && isHostClientId(id) ? await resolveHostClient(deps, id, beforeReading) : undefined)
  if (!client) {
    throw fail('invalid_client', {
      message: 'The client is unknown here.',
      fix: 'Begin at the authorization endpoint. Register again if you registered long ago.',
    })
  }
  if (client.auth === 'private_key_jwt') {
    if (client_assertion_type !== ASSERTION_TYPE) {
      throw fail('invalid_client', {
        message: 'This client authenticates by private_key_jwt.',
        fix: `Send client_assertion, and client_assertion_type=${ASSERTION_TYPE}.`,
      })
    }
    await verifyAssertion(deps, client, client_assertion, beforeReading)
  } else if (client_secret) {
    throw fail('invalid_client', { message: 'This client is public.', fix: 'Omit client_secret.' })
  }
  return client
}
