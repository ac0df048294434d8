import { type App, AppEntity } from '../../entities/apps.ts'
import { type Consent, ConsentEntity } from '../../entities/oauth.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/secrets.ts'
import { either, missing, oneOf } from '../../table/expressions.ts'
import type { Deps } from '../deps.ts'

/**
 * A consent request that waits for this person: nobody opened it before, or they did. Whose else it is cannot be told
 * from its never having existed (decisions §2 "Consent belongs to one person").
 * @throws `not_found`; `expired_consent_link` after 10 minutes or once decided; `app_suspended`
 */
export const openConsent = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  nonce: string,
  userId: string,
): Promise<{ consent: Consent; app: App }> => {
  const consent = await table.get(ConsentEntity, { nonce_hash: sha256(nonce) })
  if (!consent || (consent.user_id !== undefined && consent.user_id !== userId)) throw noSuchLink()
  if (consent.decision !== undefined || consent.expires_at <= clock.now()) throw fail('expired_consent_link')
  const app = await table.get(AppEntity, { id: consent.app_id })
  if (!app) throw noSuchLink()
  if (app.status === 'suspended') throw fail('app_suspended')
  return { consent, app }
}

/** A change to a request that this person owns, or comes to own with it, and that nobody has decided. */
export const whileOpen = (userId: string) => ({
  where: { user_id: either(missing, oneOf(userId)), decision: missing },
  otherwise: (current: Consent | undefined): PlatformError =>
    current?.user_id === undefined || current.user_id === userId ? fail('expired_consent_link') : noSuchLink(),
})

const noSuchLink = (): PlatformError =>
  fail('not_found', {
    message: 'There is no such consent request.',
    fix: 'Start the installation again from the app to get a fresh link.',
  })
