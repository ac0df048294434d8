import type { Work } from '#shared/foundation/work/index.ts'
import { HOUR } from '#shared/kernel/clock.ts'
import { seal } from '#shared/kernel/encryption.ts'
import { newSigningSecret, standardSecret } from '#shared/kernel/signatures.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { type App, AppEntity } from './entity.ts'
import { loadOwnApp } from './read.ts'
import { secretAlreadyRotated } from './rotate-secret.ts'
import type { SigningSecretView } from './schemas.ts'
import { signingSecretRecord } from './signing-secret.ts'

/**
 * Rotates an app's signing secret. Without an overlap, only the new secret signs from now on. With an overlap, the
 * previous secret also signs for that time (contract/oauth-and-tokens.md#credentials-and-rotation). An app never has more
 * than two secrets. A rotation during an overlap ends the older one at once, so two rotations always end a leaked secret.
 * @throws `not_found`, `conflict` if another rotation was first
 */
export const rotateSigningSecret = async (
  work: Work,
  developerId: string,
  appId: string,
  overlapHours: number | undefined,
): Promise<SigningSecretView> => {
  const { signing_secrets } = await loadOwnApp(work, developerId, appId)
  const now = work.clock.now()
  const signing_secret = newSigningSecret('agsec_')
  const value = await seal(await work.keys.data(), signingSecretRecord(appId), signing_secret)
  const [newest] = signing_secrets
  const secrets: App['signing_secrets'] =
    newest && overlapHours !== undefined
      ? [{ value }, { value: newest.value, until: now + overlapHours * HOUR }]
      : [{ value }]
  const view = { signing_secret, standard_webhooks_secret: standardSecret(signing_secret) }
  await work.commit(
    [
      AppEntity.update(
        { id: appId },
        { set: { signing_secrets: secrets, updated_at: now } },
        { where: { developer_id: developerId, signing_secrets }, otherwise: secretAlreadyRotated },
      ),
      auditDeveloper(
        work,
        developerId,
        'app.signing_secret_rotated',
        { type: 'app', id: appId },
        { overlap_hours: overlapHours ?? 0 },
      ),
    ],
    view,
  )
  return view
}
