import { AppEntity } from '../../entities/apps.ts'
import { fail } from '../../kernel/errors.ts'
import { newSecret, sha256 } from '../../kernel/secrets.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { ownApp } from './read.ts'
import type { ClientSecretView } from './schemas.ts'

/**
 * Replaces an app's client secret at once. Every access token names the version of the secret that it was issued under,
 * so that all of them end with it, callback and sandbox ones included; refresh tokens live on and work with the new
 * secret (decisions §2). Of rotations at the same moment one wins: each answer's secret has worked.
 * @throws `not_found`; `conflict` when another rotation came first
 */
export const rotateClientSecret = async (work: Work, developerId: string, appId: string): Promise<ClientSecretView> => {
  const { secret_version } = await ownApp(work, developerId, appId)
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
        { where: { developer_id: developerId, secret_version }, otherwise: rotatedMeanwhile },
      ),
      auditDeveloper(work, developerId, 'app.secret_rotated', { type: 'app', id: appId }),
    ],
    view,
  )
  return view
}

/** For either of an app's secrets. */
export const rotatedMeanwhile = () =>
  fail('conflict', {
    message: 'Another rotation of this secret came first.',
    fix: 'Use the secret that the other rotation returned, or rotate again with a new Idempotency-Key.',
  })
