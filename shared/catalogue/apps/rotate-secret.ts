import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { AppEntity } from './entity.ts'
import { loadOwnApp } from './read.ts'
import type { ClientSecretView } from './schemas.ts'

/**
 * Replaces an app's client secret at once. Every access token names the version of the secret that it was issued under,
 * so all of them end, including callback and sandbox tokens. Refresh tokens stay valid and work with the new secret
 * (contract/oauth-and-tokens.md#credentials-and-rotation). Of concurrent rotations one wins, so every returned secret
 * has worked.
 * @throws `not_found`, `conflict` if another rotation was first
 */
export const rotateClientSecret = async (work: Work, developerId: string, appId: string): Promise<ClientSecretView> => {
  const { secret_version } = await loadOwnApp(work, developerId, appId)
  const client_secret = newSecret('cs_')
  const view = { client_id: appId, client_secret }
  await work.commit(
    [
      AppEntity.update(
        { id: appId },
        {
          set: {
            client_secret_hash: sha256(client_secret),
            secret_version: secret_version + 1,
            updated_at: work.clock.now(),
          },
        },
        { where: { developer_id: developerId, secret_version }, otherwise: secretAlreadyRotated },
      ),
      auditDeveloper(work, developerId, 'app.secret_rotated', { type: 'app', id: appId }),
    ],
    view,
  )
  return view
}

/** Returns the error for a lost rotation of either of an app's secrets. */
export const secretAlreadyRotated = () =>
  fail('conflict', {
    message: 'Another request has already rotated this secret.',
    fix: 'Use the secret that the other request returned, or rotate again with a new Idempotency-Key.',
  })
