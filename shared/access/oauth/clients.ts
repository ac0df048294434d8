import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { sameSecret, sha256 } from '#shared/kernel/secrets.ts'

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
