import { ASSERTION_TYPE, type ClientKeys, checkAssertion, claimedClient } from '#shared/access/assertions/index.ts'
import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { sameSecret, sha256 } from '#shared/kernel/secrets.ts'

/** Endpoint whose address libraries send as the audience by default. */
const TOKEN_PATH = '/connect/token'

/**
 * Authenticates the app by an assertion that one of its keys signed (RFC 7523). `client_id` may be left out (RFC 7521 §4.2).
 * @param path path of the endpoint
 * @throws `invalid_client`
 */
export const authenticateByAssertion = async (
  deps: Pick<Deps, 'table' | 'clock' | 'settings'>,
  { client_id, client_assertion, client_assertion_type }: Readonly<Record<string, unknown>>,
  path: string,
): Promise<App> => {
  if (client_assertion_type !== ASSERTION_TYPE) {
    throw fail('invalid_client', {
      message: 'client_assertion_type is missing or unknown.',
      fix: `Send client_assertion_type=${ASSERTION_TYPE}.`,
    })
  }
  const clientId = client_id || claimedClient(client_assertion)
  if (typeof clientId !== 'string' || !isId('app', clientId)) throw fail('invalid_client')
  const app = await deps.table.get(AppEntity, { id: clientId })
  const keys = app?.jwks
  if (!keys) throw fail('invalid_client')
  const { baseUrl, appEndpointAudience } = deps.settings
  const about = {
    clientId,
    assertion: client_assertion,
    where: 'the app’s jwks',
    endpoint: appEndpointAudience && path === TOKEN_PATH ? baseUrl + TOKEN_PATH : undefined,
  }
  await checkAssertion(deps, about, (check) => check(keys as ClientKeys))
  return app
}

/**
 * Authenticates the app by its credentials in the body (RFC 6749 §2.3.1). The client_id is the app's id.
 * @throws `invalid_client` alike for missing, unknown and wrong credentials
 */
export const authenticateClient = async (
  { table }: Pick<Deps, 'table'>,
  clientId: unknown,
  clientSecret: unknown,
): Promise<App> => {
  if (typeof clientId !== 'string' || typeof clientSecret !== 'string' || !isId('app', clientId)) {
    throw fail('invalid_client')
  }
  const app = await table.get(AppEntity, { id: clientId })
  if (!sameSecret(app?.client_secret_hash ?? '', sha256(clientSecret)) || !app) throw fail('invalid_client')
  return app
}
