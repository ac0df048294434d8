import { CompactSign } from 'jose'
import { findPublicKey, loadSigningKey } from '#shared/foundation/signing-keys/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { RECEIPT_TYPE, type Receipt, verifyReceipt } from './verify.ts'

/** Signs the receipt of a decision with the current key of the ring receipts. */
export const signReceipt = async (
  work: Pick<Work, 'keys' | 'table' | 'clock' | 'settings' | 'id'>,
  claims: Omit<Receipt, 'iss' | 'jti' | 'iat'>,
): Promise<{ id: string; text: string }> => {
  const { kid, privateKey } = await loadSigningKey(work, 'receipts')
  const id = work.id('receipt')
  const receipt: Receipt = {
    iss: work.settings.baseUrl,
    jti: id,
    iat: Math.floor(work.clock.now() / 1_000),
    ...claims,
  }
  const text = await new CompactSign(Buffer.from(JSON.stringify(receipt)))
    .setProtectedHeader({ alg: 'ES256', typ: RECEIPT_TYPE, kid })
    .sign(privateKey)
  return { id, text }
}

/** Verifies a receipt of this platform with its published keys. @throws {InvalidReceipt} */
export const verifyOwnReceipt = (deps: Pick<Deps, 'table' | 'settings'>, text: string): Promise<Receipt> =>
  verifyReceipt(text, (kid) => findPublicKey(deps, 'receipts', kid), deps.settings.baseUrl)
