import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import type { ItemOf } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import {
  type Developer,
  DeveloperEntity,
  DeveloperKeyEntity,
  type DeveloperMember,
  isPortalSession,
} from '../developers/entity.ts'
import { memberById, unchangedMembers } from '../developers/member-list.ts'
import { rightsOf } from '../developers/rights.ts'
import { type EmailToken, loadEmailToken, useEmailToken } from './email.ts'
import { unchangedKeys } from './keys.ts'
import { hasAccount, membersWrites } from './members.ts'
import { newDeveloperSession } from './open-session.ts'
import { loadDeveloper } from './read.ts'
import { requestCode } from './recover.ts'
import type { DeveloperSessionView, JoinInput, StartSessionInput } from './schemas.ts'

/** Sends a link that signs in to the portal (`POST /api/v1/dev/sign-in`). @throws `mail_not_configured` */
export const requestSignIn = (work: Work, email: string, language: string): Promise<{ accepted: true }> =>
  requestCode(work, email, 'sign_in', language)

/**
 * Signs in with a developer key, or with the code of a sign-in e-mail (`POST /api/v1/dev/session`). The session is a
 * key of its own, so that blocking and recovery end it like any other. It has the rights of the teammate whose address the
 * code was sent to, or those of the key, as long as they have them.
 *
 * A first sign-in by e-mail also confirms the address. It ends every earlier key then, because somebody else may have
 * registered with the address.
 * @throws `unauthorized` for a wrong key, `forbidden` for a wrong code, `not_a_developer`
 */
export const startDeveloperSession = async (
  work: Work,
  { api_key = '', token }: StartSessionInput,
  language: string,
): Promise<DeveloperSessionView> => {
  const code = token === undefined ? undefined : await loadEmailToken(work, token, 'sign_in')
  const key = code ? undefined : await loadKey(work, api_key)
  const developerId = code?.developer_id ?? key?.developer_id ?? ''
  const id = work.id('developerKey')
  return retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const member = code && signedInBy(developer, code)
    const now = work.clock.now()
    const proves = code !== undefined && developer.email_verified_at === undefined
    const from = member
      ? { givenBy: member.id, via: 'email' as const }
      : { givenBy: key?.key_hash ?? '', via: 'key' as const }
    const session = newDeveloperSession(work, developer, id, from, !proves)
    // Recovery gives the account a main key again. Until then, nobody knows the one of this hash.
    const mainHash = sha256(newSecret('dvk_'))
    const view = presentSession(session, proves)
    await work.commit(
      [
        DeveloperEntity.update(
          { id: developerId },
          {
            set: {
              keys: session.keys,
              ...(code?.email === developer.email && { language }),
              ...(proves && { email_verified_at: now, key_hash: mainHash }),
            },
          },
          { where: { ...unchangedKeys(developer), ...unchangedMembers(developer), status: 'active' } },
        ),
        ...(proves
          ? [
              DeveloperKeyEntity.create({
                key_hash: mainHash,
                developer_id: developerId,
                status: 'active',
                role: 'owner',
                created_at: now,
              }),
            ]
          : []),
        ...session.writes,
        ...(code ? [useEmailToken(code)] : []),
        auditDeveloper(
          work,
          developerId,
          'developer.session_started',
          { type: 'developer', id: developerId },
          {
            by: code ? 'email' : 'key',
            ...(member && { member_id: member.id }),
            ...(proves && { keys_ended: true }),
          },
        ),
      ],
      view,
    )
    return view
  })
}

/** Returns the teammate whose address a code was sent to. @throws `not_a_developer` if they were removed since */
const signedInBy = (developer: Developer, { member_id, email }: EmailToken): DeveloperMember => {
  const member = memberById(developer, member_id)
  if (member?.email !== email) throw fail('not_a_developer')
  return member
}

/**
 * Accepts an invitation to a developer account, and signs in (`POST /api/v1/dev/members/join`). The link proves that the
 * address is theirs.
 * @throws `forbidden` for a wrong or old code; `conflict` if the address has joined another account in the meantime
 */
export const joinAccount = async (work: Work, { token, name }: JoinInput): Promise<DeveloperSessionView> => {
  const code = await loadEmailToken(work, token, 'join')
  const id = work.id('developerKey')
  return retryOnConflict(async () => {
    const developer = await loadDeveloper(work, code.developer_id)
    const { members } = developer
    const invited = members.find((one) => one.invitation?.token_hash === code.token_hash)
    const inviter = rightsOf(developer, invited?.invitation?.given_by ?? '', work.clock.now())
    if (!invited || inviter?.role !== 'owner') throw fail('forbidden', WITHDRAWN)
    const { invitation: _, ...rest } = invited
    const member: DeveloperMember = { ...rest, name, joined_at: work.clock.now() }
    const session = newDeveloperSession(work, developer, id, { givenBy: member.id, via: 'invitation' })
    const view = presentSession(session, false)
    await work.commit(
      [
        ClaimEntity.create(
          { kind: 'developer-email', value: member.email.toLowerCase(), owner_id: developer.id },
          { otherwise: () => hasAccount(member.email) },
        ),
        ...membersWrites(
          developer,
          members.map((one) => (one === invited ? member : one)),
          session.keys,
        ),
        ...session.writes,
        useEmailToken(code),
        auditDeveloper(
          work,
          developer.id,
          'developer.member_joined',
          { type: 'developer_member', id: member.id },
          { role: member.role },
        ),
      ],
      view,
    )
    return view
  })
}

const WITHDRAWN = {
  message: 'The invitation was withdrawn, a newer one was sent, or its sender is no owner anymore.',
  fix: 'Use the link in the newest e-mail, or ask for another invitation.',
}

/** Returns the response of a sign-in. */
export const presentSession = (
  { session_key, expires_in }: Pick<DeveloperSessionView, 'session_key' | 'expires_in'>,
  keys_ended: boolean,
): DeveloperSessionView => ({ session_key, expires_in, keys_ended })

const loadKey = async ({ table, clock }: Work, key: string): Promise<ItemOf<typeof DeveloperKeyEntity>> => {
  const record = await table.get(DeveloperKeyEntity, { key_hash: sha256(key) })
  if (record?.status === 'blocked') throw fail('not_a_developer')
  // A session would renew itself without end, and with rights that its teammate or key may have lost.
  if (record?.role === null) {
    throw fail('unauthorized', {
      message: 'This is a session, not a developer key. A session opens no other session.',
      fix: 'Use the session as it is, or sign in with a developer key, a passkey or by e-mail.',
    })
  }
  if (record?.status !== 'active' || (record.expires_at ?? Number.POSITIVE_INFINITY) <= clock.now()) {
    throw fail('unauthorized', {
      message: 'The developer key is wrong, was replaced, or has expired.',
      fix: 'Check the key, or sign in by e-mail.',
    })
  }
  return record
}

/** Ends the session of this request (`DELETE /api/v1/dev/session`). Other keys stay. */
export const endDeveloperSession = (work: Work, developerId: string, presented: string): Promise<void> => {
  const key_hash = sha256(presented)
  return retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const session = developer.keys.filter(isPortalSession).find((known) => known.key_hash === key_hash)
    if (!session) {
      throw fail('conflict', {
        message: 'This request’s key isn’t a session.',
        fix: 'To end a named key, delete it. To end the main key, rotate it.',
      })
    }
    await work.commit([
      DeveloperEntity.update(
        { id: developerId },
        { set: { keys: developer.keys.filter((known) => known !== session) } },
        { where: unchangedKeys(developer) },
      ),
      DeveloperKeyEntity.delete({ key_hash }),
      auditDeveloper(work, developerId, 'developer.session_ended', { type: 'developer', id: developerId }),
    ])
  })
}
