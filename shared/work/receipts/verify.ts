import { compactVerify, errors, importJWK, type JWK } from 'jose'
import * as z from 'zod'

/** `typ` of a receipt, so that no other token is taken for one (RFC 8725 §3.11). */
export const RECEIPT_TYPE = 'approval-receipt+jwt'

const sha256Hex = () => z.string().regex(/^[0-9a-f]{64}$/)

/** Claims of a receipt (contract/runs.md#receipts). */
export const ReceiptClaims = () =>
  z.object({
    /** Platform that signed it. */
    iss: z.string(),
    /** Id of the receipt, `rcp_…`. */
    jti: z.string(),
    /** Time of the decision, in epoch seconds. */
    iat: z.number(),
    /** Person who decided. */
    sub: z.string(),
    /** Console session in which they decided. */
    sid: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    installation_id: z.string(),
    run_id: z.string(),
    step_id: z.string(),
    tool: z.string(),
    /** SHA-256 of the canonical arguments (RFC 8785). Null if a rejected call's arguments could no longer be read. */
    arguments_sha256: sha256Hex().nullable(),
    /** SHA-256 of the scopes and bans that applied to the call when it was decided. */
    policy_version: sha256Hex(),
    decision: z.enum(['approved', 'rejected']),
    /** Number of people who have approved the call, this one included, and of those who have to. Absent: one of one. */
    approvals: z.object({ given: z.number(), required: z.number() }).optional(),
    /** People who approved the call before. */
    approved_before_by: z.array(z.string()).optional(),
    /** Person who is away, in whose place the person decided. */
    on_behalf_of: z.string().optional(),
  })

export type Receipt = z.infer<ReturnType<typeof ReceiptClaims>>

/** Error for a receipt that the platform didn't sign, or not in this form. The message says why. */
export class InvalidReceipt extends Error {}

/**
 * Matches a compact JWS with an ES256 signature in the only encoding that RFC 7515 §2 allows: no padding, and zeros in
 * the spare bits of the last character. jose accepts other encodings, so one receipt could have several texts.
 */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/

/**
 * Verifies a receipt. Needs no network: the caller gives the public keys.
 * @param keyFor finds a published key by its id
 * @throws {InvalidReceipt}
 */
export const verifyReceipt = async (
  text: string,
  keyFor: (kid: string) => Promise<JWK | undefined> | JWK | undefined,
  issuer: string | undefined,
): Promise<Receipt> => {
  if (!COMPACT.test(text)) throw new InvalidReceipt('It isn’t a compact JWS with an ES256 signature.')
  const { protectedHeader, payload } = await checkSignature(text, keyFor)
  if (protectedHeader.typ !== RECEIPT_TYPE) throw new InvalidReceipt('It is signed, but it isn’t a receipt.')
  const { success, data } = ReceiptClaims().safeParse(JSON.parse(new TextDecoder().decode(payload)))
  if (!success) throw new InvalidReceipt('It lacks claims that every receipt has.')
  if (issuer !== undefined && data.iss !== issuer)
    throw new InvalidReceipt(`It was issued by ${data.iss}, not by ${issuer}.`)
  return data
}

const checkSignature = async (text: string, keyFor: Parameters<typeof verifyReceipt>[1]) => {
  try {
    return await compactVerify(
      text,
      async ({ kid }) => {
        const jwk = typeof kid === 'string' ? await keyFor(kid) : undefined
        if (!jwk) throw new InvalidReceipt('The platform published no such key.')
        return importJWK(jwk, 'ES256')
      },
      { algorithms: ['ES256'] },
    )
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError)
      throw new InvalidReceipt('The signature doesn’t match: the receipt was changed, or somebody else signed it.')
    throw error
  }
}
