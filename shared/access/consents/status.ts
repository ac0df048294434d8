import { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { type Clock, iso, SECOND } from '#shared/kernel/clock.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { type Consent, ConsentEntity } from './entity.ts'
import type { ConsentStatusView } from './schemas.ts'

/** Returns the whole seconds for which a link still works. */
export const secondsUntilExpiry = (clock: Clock, { expires_at }: Pick<Consent, 'expires_at'>): number =>
  Math.max(0, Math.ceil((expires_at - clock.now()) / SECOND))

/**
 * Reports whether a link still waits for a decision, and for which app. A page that handed over to the messaging app learns
 * nothing else: neither the decision, nor whether the link ever existed (contract/oauth-and-tokens.md#consent).
 */
export const readConsentStatus = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  nonce: string,
): Promise<ConsentStatusView> => {
  const consent = await table.get(ConsentEntity, { nonce_hash: sha256(nonce) })
  if (!consent || consent.decision !== undefined || consent.expires_at <= clock.now()) {
    return { over: true, expires_at: null, expires_in: null, app: null }
  }
  const app = await table.get(AppEntity, { id: consent.app_id })
  const developer = app && (await table.get(DeveloperEntity, { id: app.developer_id }))
  return {
    over: false,
    expires_at: iso(consent.expires_at),
    expires_in: secondsUntilExpiry(clock, consent),
    app: app
      ? { name: app.name, developer_name: developer?.company ?? developer?.name ?? '', verified: app.verified }
      : null,
  }
}
