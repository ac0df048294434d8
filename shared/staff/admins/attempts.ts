import { rateLimited, returnToBucket, takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { PlatformError } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { auditEntry } from '../audit/write.ts'
import type { Admin } from './entity.ts'

/**
 * Counts an attempt before its password or passkey is checked, so that parallel guesses count too. The buckets name who
 * guesses, never the account: otherwise anybody could lock its owner out.
 * @returns function that uncounts the attempt, because only failures count
 * @throws `rate_limited`
 */
export const admitAttempt = async (work: Work, buckets: string[]): Promise<() => Promise<void>> => {
  const rate = LIMITS.adminSignInFailures
  const taken = await Promise.all(buckets.map((name) => takeFromBucket(work, name, rate)))
  const giveAllBack = async (): Promise<void> => {
    await Promise.all(buckets.flatMap((name, i) => (taken[i]?.allowed ? [returnToBucket(work, name, rate)] : [])))
  }
  const refused = taken.filter(({ allowed }) => !allowed)
  if (refused.length === 0) return giveAllBack
  await giveAllBack()
  throw tooMany(Math.max(...refused.map(({ retryAfter }) => retryAfter)))
}

const tooMany = (seconds: number): PlatformError =>
  rateLimited('sign_in', seconds, {
    message: 'Too many failed sign-ins.',
    fix: `Wait ${seconds} s (Retry-After), then try again.`,
  })

/**
 * Writes a failed sign-in or confirmation to the audit log, separately from the response. Costs the same whether or not
 * the account exists. Stores only a hash of the e-mail address, since people may type anything into that field.
 */
export const noteFailure = async (
  work: Work,
  admin: Pick<Admin, 'id' | 'email'> | undefined,
  email = admin?.email ?? '',
): Promise<void> => {
  const subject = admin ? { type: 'admin', id: admin.id } : { type: 'system', id: 'sign-in' }
  const entry = auditEntry(work, {
    id: newId('audit', work.clock.now()),
    scope: 'platform',
    action: 'admin.sign_in_failed',
    actor: subject,
    target: subject,
    details: { email_sha256: sha256(email) },
  })
  await work.table.transact([entry])
}
