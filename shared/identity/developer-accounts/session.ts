import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Developer, DeveloperEntity, DeveloperKeyEntity, type NamedKey } from '../developers/entity.ts'
import { loadEmailToken, useEmailToken } from './email.ts'
import { liveKeys, unchangedKeys } from './keys.ts'
import { loadDeveloper } from './read.ts'
import { requestCode } from './recover.ts'
import type { DeveloperSessionView, StartSessionInput } from './schemas.ts'

/** Sends a link that signs in to the portal (`POST /api/v1/dev/sign-in`). @throws `mail_not_configured` */
export const requestSignIn = (work: Work, email: string): Promise<{ accepted: true }> =>
  requestCode(work, email, 'sign_in')

/**
 * Signs in with a developer key, or with the code of a sign-in e-mail (`POST /api/v1/dev/session`). The session is a
 * key of its own, so that blocking and recovery end it like any other.
 *
 * A first sign-in by e-mail also confirms the address. It ends every earlier key then, because somebody else may have
 * registered with the address.
 * @throws `unauthorized` for a wrong key, `forbidden` for a wrong code, `not_a_developer`
 */
export const startDeveloperSession = async (
  work: Work,
  { api_key = '', token }: StartSessionInput,
): Promise<DeveloperSessionView> => {
  const code = token === undefined ? undefined : await loadEmailToken(work, token, 'sign_in')
  const developerId = code?.developer_id ?? (await loadKeyOwner(work, api_key))
  const session_key = newSecret('dvs_')
  const id = work.id('developerKey')
  return retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    if (code && developer.email !== code.email) throw fail('not_a_developer')
    const now = work.clock.now()
    const session: NamedKey = {
      id,
      name: 'session',
      key_hash: sha256(session_key),
      created_at: now,
      expires_at: now + LIMITS.developerSessionLife,
      session: true,
    }
    const proves = code !== undefined && developer.email_verified_at === undefined
    const { kept, ended } = proves
      ? { kept: [], ended: [developer, ...(developer.keys ?? [])] }
      : withoutOldest(developer, now)
    // Recovery gives the account a main key again. Until then, nobody knows the one of this hash.
    const mainHash = sha256(newSecret('dvk_'))
    const view = { session_key, expires_in: LIMITS.developerSessionLife / 1_000, keys_ended: proves }
    await work.commit(
      [
        DeveloperEntity.update(
          { id: developerId },
          {
            set: {
              keys: [session, ...kept],
              ...(proves && { email_verified_at: now, key_hash: mainHash }),
            },
          },
          { where: { ...unchangedKeys(developer), status: 'active' } },
        ),
        DeveloperKeyEntity.create({
          key_hash: session.key_hash,
          developer_id: developerId,
          status: 'active',
          created_at: now,
          expires_at: session.expires_at,
        }),
        ...(proves
          ? [
              DeveloperKeyEntity.create({
                key_hash: mainHash,
                developer_id: developerId,
                status: 'active',
                created_at: now,
              }),
            ]
          : []),
        ...ended.map(({ key_hash }) => DeveloperKeyEntity.delete({ key_hash })),
        ...(code ? [useEmailToken(code)] : []),
        auditDeveloper(
          work,
          developerId,
          'developer.session_started',
          { type: 'developer', id: developerId },
          { by: code ? 'email' : 'key', ...(proves && { keys_ended: true }) },
        ),
      ],
      view,
    )
    return view
  })
}

/** Returns the keys that stay when a session is added, and the oldest sessions above the limit, which end. */
const withoutOldest = (developer: Developer, now: number): { kept: NamedKey[]; ended: NamedKey[] } => {
  const live = liveKeys(developer, now)
  const ended = live.filter(({ session }) => session).slice(LIMITS.sessionsPerDeveloper - 1)
  return { kept: live.filter((key) => !ended.includes(key)), ended }
}

const loadKeyOwner = async ({ table, clock }: Work, key: string): Promise<string> => {
  const record = await table.get(DeveloperKeyEntity, { key_hash: sha256(key) })
  if (record?.status === 'blocked') throw fail('not_a_developer')
  if (record?.status !== 'active' || (record.expires_at ?? Number.POSITIVE_INFINITY) <= clock.now()) {
    throw fail('unauthorized', {
      message: 'The developer key is wrong, was replaced, or has expired.',
      fix: 'Check the key, or sign in by e-mail.',
    })
  }
  return record.developer_id
}

/** Ends the session of this request (`DELETE /api/v1/dev/session`). Other keys stay. */
export const endDeveloperSession = (work: Work, developerId: string, presented: string): Promise<void> => {
  const key_hash = sha256(presented)
  return retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const session = developer.keys?.find((known) => known.session && known.key_hash === key_hash)
    if (!session) {
      throw fail('conflict', {
        message: 'This request’s key isn’t a session.',
        fix: 'To end a named key, delete it. To end the main key, rotate it.',
      })
    }
    await work.commit([
      DeveloperEntity.update(
        { id: developerId },
        { set: { keys: developer.keys?.filter((known) => known !== session) } },
        { where: unchangedKeys(developer) },
      ),
      DeveloperKeyEntity.delete({ key_hash }),
      auditDeveloper(work, developerId, 'developer.session_ended', { type: 'developer', id: developerId }),
    ])
  })
}
