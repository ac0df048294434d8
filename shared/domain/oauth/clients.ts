import { type App, AppEntity } from '../../entities/apps.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { sameSecret, sha256 } from '../../kernel/secrets.ts'
import type { Deps } from '../deps.ts'

/**
 * The app that identified itself by body fields (RFC 6749 §2.3.1). The client_id is the app's id.
 * @throws `invalid_client` alike for what is missing, unknown or wrong
 */
export const clientByCredentials = async (
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
