import { type App, AppEntity } from '../../entities/apps.ts'
import { HOUR } from '../../kernel/clock.ts'
import { seal } from '../../kernel/sealed.ts'
import { newSigningSecret } from '../../kernel/signatures.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { signingSecretRecord } from '../runs/execute-request.ts'
import { ownApp } from './read.ts'
import { rotatedMeanwhile } from './rotate-secret.ts'
import type { SigningSecretView } from './schemas.ts'

/**
 * Gives an app a new signing secret. Without an overlap it is the only one at once; with one, the secret that was the newest
 * until now signs beside it for so long (decisions §2). There are never more than two: a rotation during an overlap ends
 * the older one at once, so that a secret that leaked is gone after two rotations whatever the overlaps.
 * @throws `not_found`; `conflict` when another rotation came first
 */
export const rotateSigningSecret = async (
  work: Work,
  developerId: string,
  appId: string,
  overlapHours: number | undefined,
): Promise<SigningSecretView> => {
  const { signing_secrets } = await ownApp(work, developerId, appId)
  const now = work.clock.now()
  const signing_secret = newSigningSecret('agsec_')
  const value = await seal(await work.keys.data(), signingSecretRecord(appId), signing_secret)
  const [newest] = signing_secrets
  const secrets: App['signing_secrets'] =
    newest && overlapHours !== undefined
      ? [{ value }, { value: newest.value, until: now + overlapHours * HOUR }]
      : [{ value }]
  const view = { signing_secret }
  await work.commit(
    [
      AppEntity.update(
        { id: appId },
        { set: { signing_secrets: secrets, updated_at: now } },
        { where: { developer_id: developerId, signing_secrets }, otherwise: rotatedMeanwhile },
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
