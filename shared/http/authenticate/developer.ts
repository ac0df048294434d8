import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity, DeveloperKeyEntity, rightsOf } from '#shared/identity/developers/index.ts'
import type { ItemOf } from '#shared/table/entity.ts'
import { HOUR } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { sameSecret, sha256 } from '../../kernel/secrets.ts'
import { WRONG_KEY } from '../authorize.ts'
import { bearerOf, provenKind, rejectSurfaceToken, unauthorized } from '../bearer-token.ts'
import type { Method } from '../endpoint.ts'
import { takeRateLimit } from '../rate-limit.ts'
import type { Authenticator } from './types.ts'

/** Authenticates a developer by their key, or by the key of a session. */
export const developer: Authenticator<'developer'> = async (deps, { headers, method, again }) => {
  const key = headers['x-developer-key']
  if (key === undefined) {
    await refuseToken(deps, headers, method)
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
  if (status === 'blocked') throw blocked()
  const { developer_id, key_hash, created_at } = record
  const isSession = record.role === null
  // A key names its rights itself. Those of a session are the ones that its key or teammate has now.
  const account = isSession ? await deps.table.get(DeveloperEntity, { id: developer_id }) : undefined
  if (account?.status === 'blocked') throw blocked()
  const rights =
    record.role === null
      ? rightsOf(account, key_hash, deps.clock.now())
      : { role: record.role, root: key_hash, memberId: undefined }
  if (!rights) throw fail('unauthorized', WRONG_KEY)
  const { role, root, memberId } = rights
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
      credential: { developer_id, given_by: key_hash },
      root: { developer_id, given_by: root },
      isSession,
      ...(memberId !== undefined && { member: { id: memberId, signedInAt: created_at } }),
      ...(status === 'ended' && { ended: true as const }),
    },
    headers: rate,
  }
}

const blocked = () =>
  fail('not_a_developer', { message: 'The developer account is blocked.', fix: 'Contact platform support.' })

/** Notes the use of a key or a session, at most once an hour, so that its owner sees whether it is still needed. */
const noteUse = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  { key_hash, status, last_used_at }: ItemOf<typeof DeveloperKeyEntity>,
): Promise<void> => {
  const now = clock.now()
  const isNoted = last_used_at !== undefined && last_used_at > now - HOUR
  if (status !== 'active' || isNoted) return
  const use = DeveloperKeyEntity.update({ key_hash }, { set: { last_used_at: now } }, { where: { status } })
  // A key that ends at the same time needs no note, and a request doesn't fail because of one.
  await table.transact([use]).catch(() => {})
}

/** Names the expected credential to a caller who sends a valid token of another kind. */
const refuseToken = async (deps: Deps, headers: Record<string, string>, method: Method): Promise<void> => {
  const token = bearerOf(headers)
  const kind = token === undefined ? undefined : await provenKind(deps, token)
  rejectSurfaceToken(kind, method)
  if (kind !== undefined) throw fail('not_a_developer')
}
