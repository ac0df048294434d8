import { TOKENS } from '#shared/foundation/tokens/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperKeyEntity } from '#shared/identity/developers/index.ts'
import type { ItemOf } from '#shared/table/entity.ts'
import { HOUR } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { sameSecret, sha256 } from '../../kernel/secrets.ts'
import { WRONG_KEY } from '../authorize.ts'
import { bearerOf, claimedTokenType, rejectSurfaceToken, unauthorized } from '../bearer-token.ts'
import type { Method } from '../endpoint.ts'
import { takeRateLimit } from '../rate-limit.ts'
import type { Authenticator } from './types.ts'

/** Authenticates a developer by their key. */
export const developer: Authenticator<'developer'> = async (deps, { headers, method, again }) => {
  const key = headers['x-developer-key']
  if (key === undefined) {
    refuseToken(headers, method)
    throw unauthorized(
      'The X-Developer-Key header is missing.',
      'Register with POST /api/v1/dev/register to get a key.',
    )
  }
  const record = await deps.table.get(DeveloperKeyEntity, { key_hash: sha256(key) })
  if (!record) throw fail('unauthorized', WRONG_KEY)
  const { status, recovery_hash, expires_at = 0 } = record
  if (status === 'ended') {
    const recovers = sameSecret(recovery_hash ?? '', sha256(headers['idempotency-key'] ?? ''))
    if (method !== 'POST' || !recovers || expires_at <= deps.clock.now()) throw fail('unauthorized', WRONG_KEY)
  }
  if (status === 'active' && record.expires_at !== undefined && record.expires_at <= deps.clock.now()) {
    throw fail('unauthorized', {
      message: 'The developer key has expired.',
      fix: 'Create another with POST /api/v1/dev/me/keys and a key that hasn’t.',
    })
  }
  if (status === 'blocked') {
    throw fail('not_a_developer', {
      message: 'The developer account is blocked.',
      fix: 'Contact platform support.',
    })
  }
  const { developer_id, role = 'owner', member_id, created_at } = record
  const [rate] = again
    ? [{}]
    : await Promise.all([
        takeRateLimit(deps, { name: `developer:${developer_id}`, rate: LIMITS.callerRate, scope: 'developer' }),
        noteUse(deps, record),
      ])
  return {
    caller: {
      kind: 'developer',
      developerId: developer_id,
      role,
      ...(member_id !== undefined && { member: { id: member_id, signedInAt: created_at } }),
      ...(status === 'ended' && { ended: true as const }),
    },
    headers: rate,
  }
}

/** Notes the use of a key, at most once an hour, so that its owner sees whether it is still needed. */
const noteUse = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { key_hash, status, last_used_at, member_id }: ItemOf<typeof DeveloperKeyEntity>,
): Promise<void> => {
  const now = clock.now()
  const isNoted = last_used_at !== undefined && last_used_at > now - HOUR
  if (status !== 'active' || member_id !== undefined || isNoted) return
  const use = DeveloperKeyEntity.update({ key_hash }, { set: { last_used_at: now } }, { where: { status } })
  // A key that ends at the same time needs no note, and a request doesn't fail because of one.
  await table.transact([use]).catch(() => {})
}

/**
 * Names the expected credential to a caller who sends another kind of token. Reads only the token's type, so it needs
 * no key.
 */
const refuseToken = (headers: Record<string, string>, method: Method): void => {
  const token = bearerOf(headers)
  if (token === undefined) return
  rejectSurfaceToken(token, method)
  const type = claimedTokenType(token)
  if (Object.values(TOKENS).some(({ typ }) => typ === type)) throw fail('not_a_developer')
}
