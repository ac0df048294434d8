import { randomInt } from 'node:crypto'
import { rateLimited, takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { newMail, requireMail, sendMail } from '#shared/identity/mails/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import {
  refuseStandIn,
  requireRecentSignIn,
  type SignedIn,
  type User,
  UserEntity,
  type Workspace,
} from '#shared/identity/people/index.ts'
import { HOUR } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { msg, translator } from '#shared/kernel/messages.ts'
import { cleanName } from '#shared/kernel/names.ts'
import { newSecret, sameSecret, sha256 } from '#shared/kernel/secrets.ts'
import type { Write } from '#shared/table/entity.ts'
import { composeMail } from './compose.ts'
import { PersonMailEntity } from './entity.ts'

/** Time in which a code can be entered, and wrong codes that end it. A code has 6 digits. */
const CODE_LIFE = HOUR
const MOST_TRIES = 5

/** Hash of a code. It is short, so the person is part of the hash. */
const codeHash = (user_id: string, code: string): string => sha256(`${user_id} ${code}`)

/** Fails if the account was deleted in the meantime: its address would stay. */
const accountCheck = ({ id }: Pick<User, 'id'>): Write => UserEntity.check({ id }, { where: { status: 'active' } })

/**
 * Sends a code to an address that the person wants e-mail at (`PUT /console/email`). The address that they have stays in
 * use until the new one is confirmed.
 * @throws `mail_not_configured`, `rate_limited`; `confirmation_required` if the sign-in is older than 10 minutes;
 * `forbidden` for a stand-in
 */
export const requestAddress = async (
  work: Work,
  caller: SignedIn,
  email: string,
): Promise<{ pending_address: string }> => {
  requireMail(work)
  refuseStandIn(caller.user)
  // E-mail would go on after the end of a stolen session.
  requireRecentSignIn(work, caller, 'Changing your e-mail address')
  const { user } = caller
  // By person and by address, so that nobody's mailbox is filled from many accounts.
  for (const bucket of [`mail:${user.id}`, `mail-to:${sha256(email.toLowerCase())}`]) {
    const { allowed, retryAfter } = await takeFromBucket(work, bucket, LIMITS.personMailRate)
    if (allowed) continue
    throw rateLimited('user', retryAfter, {
      message: 'Enough codes were sent for now.',
      fix: `Use the latest code, or wait ${retryAfter} s.`,
    })
  }
  const known = await work.table.get(PersonMailEntity, { user_id: user.id })
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  const t = translator(user.locale)
  const { name } = work.settings.brand
  const mail = await newMail(
    work,
    composeMail(work.settings, t, {
      to: email,
      locale: user.locale,
      subject: t('{code} is your code for {platform}', { code, platform: name }),
      parts: [
        {
          title: code,
          body: t(
            'Enter this code in the console within an hour to get notifications at this address. If you didn’t ask for it, ignore this e-mail.',
          ),
        },
      ],
    }),
  )
  const pending = {
    email,
    code_hash: codeHash(user.id, code),
    expires_at: work.clock.now() + CODE_LIFE,
    tries: 0,
  }
  const view = { pending_address: email }
  await work.commit(
    [
      accountCheck(user),
      PersonMailEntity.upsert(
        { user_id: user.id },
        {
          set: { user_id: user.id, pending, link_key: known?.link_key ?? newSecret() },
          add: { revision: 1 },
        },
      ),
      mail.write,
    ],
    view,
  )
  await sendMail(work, mail.id)
  return view
}

const wrongCode = () =>
  fail('forbidden', {
    message: 'The code is wrong, was used, or is too old.',
    fix: 'Enter the code of the latest e-mail, or request another one.',
  })

/**
 * Confirms the new address with the code that was sent to it (`POST /console/email/confirm`). The person is notified, since
 * somebody else could have chosen it.
 * @throws `forbidden` for a wrong code, and for any code after five wrong ones
 */
export const confirmAddress = async (
  work: Work,
  { user, workspace }: Pick<SignedIn, 'user'> & { workspace: Pick<Workspace, 'id'> },
  code: string,
): Promise<{ address: string }> => {
  const at = { user_id: user.id }
  const known = await work.table.get(PersonMailEntity, at)
  const pending = known?.pending
  if (!pending || pending.expires_at <= work.clock.now() || pending.tries >= MOST_TRIES) throw wrongCode()
  if (!sameSecret(pending.code_hash, codeHash(user.id, code))) {
    await work.table.transact([
      PersonMailEntity.update(
        at,
        { set: { pending: { ...pending, tries: pending.tries + 1 } }, add: { revision: 1 } },
        { where: { revision: known.revision }, otherwise: wrongCode },
      ),
    ])
    throw wrongCode()
  }
  const view = { address: pending.email }
  await work.commit(
    [
      accountCheck(user),
      PersonMailEntity.update(
        at,
        { set: { email: pending.email, pending: undefined, link_key: newSecret() }, add: { revision: 1 } },
        { where: { revision: known.revision }, otherwise: wrongCode },
      ),
      ...newNotification(work, {
        workspace_id: workspace.id,
        user_id: user.id,
        kind: 'account.email',
        title: msg('Your notifications now also come by e-mail'),
        body: msg(
          'They go to {address}. If you didn’t choose this address, remove it under Notifications in the console.',
          { address: cleanName(pending.email) },
        ),
      }).writes,
    ],
    view,
  )
  return view
}

/** Removes the person's address, so that they get no e-mail (`DELETE /console/email`). */
export const removeAddress = (work: Work, user_id: string): Promise<void> =>
  work.commit([PersonMailEntity.delete({ user_id })])
