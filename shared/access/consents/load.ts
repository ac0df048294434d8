import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { either, missing, oneOf } from '#shared/table/expressions.ts'
import { type Consent, ConsentEntity } from './entity.ts'

/**
 * Loads a consent request that is open for this person: nobody owns it yet, or they do. Another person's request looks
 * like one that never existed. After 10 minutes it looks the same to everyone: expired, whatever became of it
 * (contract/oauth-and-tokens.md#consent).
 * @throws `not_found`; `expired_consent_link` after 10 minutes or once decided; `app_suspended`
 */
export const loadOpenConsent = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  nonce: string,
  userId: string,
): Promise<{ consent: Consent; app: App }> => {
  const consent = await table.get(ConsentEntity, { nonce_hash: sha256(nonce) })
  if (!consent) throw noSuchLink()
  if (consent.expires_at <= clock.now()) throw fail('expired_consent_link')
  if (consent.user_id !== undefined && consent.user_id !== userId) throw noSuchLink()
  if (consent.decision !== undefined) throw fail('expired_consent_link')
  const app = await table.get(AppEntity, { id: consent.app_id })
  if (!app) throw noSuchLink()
  if (app.status === 'suspended') throw fail('app_suspended')
  return { consent, app }
}

/** Condition that the request is undecided, and belongs to this person or to nobody yet. */
export const ifOpen = (userId: string) => ({
  where: { user_id: either(missing, oneOf(userId)), decision: missing },
  otherwise: (current: Consent | undefined): PlatformError =>
    current?.user_id === undefined || current.user_id === userId ? fail('expired_consent_link') : noSuchLink(),
})

const noSuchLink = (): PlatformError =>
  fail('not_found', {
    message: 'Consent request not found.',
    fix: 'Start the installation again from the app to get a new link.',
  })
