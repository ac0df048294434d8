import { type Consent, ConsentEntity } from '../../entities/oauth.ts'
import { type Clock, iso, SECOND } from '../../kernel/clock.ts'
import { sha256 } from '../../kernel/secrets.ts'
import type { Deps } from '../deps.ts'
import type { ConsentStatusView } from './schemas.ts'

/** Whole seconds that a link still works. */
export const secondsUntil = (clock: Clock, { expires_at }: Pick<Consent, 'expires_at'>): number =>
  Math.max(0, Math.ceil((expires_at - clock.now()) / SECOND))

/**
 * Does a link still wait for a decision? All that a page learns after it handed over to the messaging app: not what was
 * decided, nor whether the link was ever there (decisions §2 "Consent belongs to one person").
 */
export const readConsentStatus = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  nonce: string,
): Promise<ConsentStatusView> => {
  const consent = await table.get(ConsentEntity, { nonce_hash: sha256(nonce) })
  if (!consent || consent.decision !== undefined || consent.expires_at <= clock.now()) {
    return { over: true, expires_at: null, expires_in: null }
  }
  return { over: false, expires_at: iso(consent.expires_at), expires_in: secondsUntil(clock, consent) }
}
