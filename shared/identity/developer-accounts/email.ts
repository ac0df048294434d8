import { rateLimited, takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { brandSignature } from '#shared/kernel/brand.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { type Translate, translator } from '#shared/kernel/messages.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import type { ItemOf, Write } from '#shared/table/entity.ts'
import { exists } from '#shared/table/expressions.ts'
import { type Developer, EmailTokenEntity } from '../developers/entity.ts'
import { memberWith } from '../developers/member-list.ts'
import type { DeveloperRole } from '../developers/roles.ts'
import { nameInMail, newMail, requireMail, sendMail } from '../mails/index.ts'

export type EmailToken = ItemOf<typeof EmailTokenEntity>
type Purpose = EmailToken['purpose']

interface MailText {
  subject: string
  paragraphs: string[]
}

type MailTexts = (t: Translate, baseUrl: string, token: string) => MailText

const TEXTS: Record<Exclude<Purpose, 'join'>, MailTexts> = {
  prove: (t, baseUrl, token) => ({
    subject: t('Confirm your e-mail address'),
    paragraphs: [
      t(
        'A developer account at {baseUrl} has your e-mail address. To confirm it, enter this code within an hour, in the developer portal under Account:',
        { baseUrl },
      ),
      `  ${token}`,
      t('Or send it with your developer key: {request} with {body}.', {
        request: 'POST /api/v1/dev/me/email-proof/confirm',
        body: codeBody(t),
      }),
      t('If you have no such account, ignore this e-mail, or take the account over: {request}.', {
        request: 'POST /api/v1/dev/recover',
      }),
    ],
  }),
  recover: (t, baseUrl, token) => ({
    subject: t('Recover your developer account'),
    paragraphs: [
      t(
        'Somebody asked for a new developer key for your account at {baseUrl}. To get one, send this code within an hour:',
        { baseUrl },
      ),
      `  ${token}`,
      t('{request} with {body}. Every key that the account has ends then.', {
        request: 'POST /api/v1/dev/recover/confirm',
        body: codeBody(t),
      }),
      t('If that wasn’t you, ignore this e-mail. Nothing has changed.'),
    ],
  }),
  sign_in: (t, baseUrl, token) => ({
    subject: t('Sign in to the developer portal'),
    paragraphs: [
      t('To sign in, open this link within an hour. It works once:'),
      `  ${baseUrl}/developers#/sign-in/${token}`,
      t('It works without a passkey or a key. If you lost yours, replace it under Account.'),
      t('If that wasn’t you, ignore this e-mail. Nothing has changed.'),
    ],
  }),
}

const codeBody = (t: Translate): string => `{"token": "<${t('the code')}>"}`

interface NewEmailToken {
  mailId: string
  tokenHash: string
  expiresAt: number
  writes: Write[]
}

/**
 * Account, the address that the e-mail goes to, and the teammate whose address it is. The language is that of the browser that
 * asks for the e-mail, because no other is known.
 */
type Addressee = Pick<Developer, 'id' | 'email'> & { member_id: string; language: string }

/** Returns the account's own address, which is always that of an owner. */
export const contactOf = (developer: Developer, language: string): Addressee => {
  const { id, email } = developer
  const member = memberWith(developer, email)
  if (!member) throw new Error(`the account ${id} has no owner with its address`)
  return { id, email, member_id: member.id, language }
}

/** Creates a single-use token and the e-mail that carries it, for a transaction. */
export const newEmailToken = async (
  work: Work,
  to: Addressee,
  purpose: Exclude<Purpose, 'join'>,
): Promise<NewEmailToken> => newTokenMail(work, to, purpose, LIMITS.emailTokenLife, TEXTS[purpose])

/** Creates the invitation of a teammate. @param account name of the account, as its owners chose it */
export const newInvitation = async (
  work: Work,
  to: Addressee,
  { account, role }: { account: string; role: DeveloperRole },
): Promise<NewEmailToken> =>
  newTokenMail(work, to, 'join', LIMITS.invitationLife, (t, baseUrl, token) => ({
    subject: t('Join a developer account'),
    paragraphs: [
      t(
        '“{account}” invites you to their developer account at {baseUrl}, with the role {role}. To join, open this link within 7 days:',
        {
          account: nameInMail(account),
          baseUrl,
          role: t('{role, select, viewer {viewer} developer {developer} other {owner}}', { role }),
        },
      ),
      `  ${baseUrl}/developers#/join/${token}`,
      t('If you don’t know them, ignore this e-mail.'),
    ],
  }))

const newTokenMail = async (
  work: Work,
  { id: developer_id, email, member_id, language }: Addressee,
  purpose: Purpose,
  life: number,
  textsFor: MailTexts,
): Promise<NewEmailToken> => {
  const token = newSecret('dvt_')
  const token_hash = sha256(token)
  const now = work.clock.now()
  const expires_at = now + life
  const { baseUrl, brand } = work.settings
  const { subject, paragraphs } = textsFor(translator(language), baseUrl, token)
  const text = [...paragraphs, brandSignature(brand)].join('\n\n')
  const message = { to: email, subject: `${subject} – ${brand.name}`, text }
  const { id: mailId, write } = await newMail(work, message)
  const record = { token_hash, developer_id, purpose, member_id, email, created_at: now, expires_at }
  return { mailId, tokenHash: token_hash, expiresAt: expires_at, writes: [EmailTokenEntity.create(record), write] }
}

/** Returns true if the account may get another e-mail now. Otherwise anyone could fill its mailbox. */
export const takeMail = async (work: Work, developerId: string): Promise<{ allowed: boolean; retryAfter: number }> =>
  takeFromBucket(work, `mail:${developerId}`, LIMITS.developerMailRate)

/** Takes an e-mail out of the account's share. @throws `rate_limited` */
export const requireMailRoom = async (work: Work, developerId: string): Promise<void> => {
  const { allowed, retryAfter } = await takeMail(work, developerId)
  if (allowed) return
  throw rateLimited('developer', retryAfter, {
    message: 'Your account has sent or received enough e-mails for now.',
    fix: `Use the latest e-mail, or wait ${retryAfter} s.`,
  })
}

/**
 * Sends a code to the account's e-mail address (`POST /api/v1/dev/me/email-proof`).
 * @throws `mail_not_configured`, `rate_limited`; `conflict` if the address is proven
 */
export const requestEmailProof = async (
  work: Work,
  developer: Developer,
  language: string,
): Promise<{ email: string; expires_at: string }> => {
  requireMail(work)
  if (developer.email_verified_at !== undefined)
    throw fail('conflict', { message: 'Your e-mail address is already confirmed.', fix: 'No action is needed.' })
  await requireMailRoom(work, developer.id)
  const { mailId, expiresAt, writes } = await newEmailToken(work, contactOf(developer, language), 'prove')
  const view = { email: developer.email, expires_at: iso(expiresAt) }
  await work.commit(
    [
      ...writes,
      auditDeveloper(work, developer.id, 'developer.email_proof_requested', { type: 'developer', id: developer.id }),
    ],
    view,
  )
  await sendMail(work, mailId)
  return view
}

/**
 * Loads a token that was sent by e-mail.
 * @param developerId the only account that may use it
 * @throws `forbidden`, the same for wrong, used and expired tokens
 */
export const loadEmailToken = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  token: string,
  purpose: Purpose,
  developerId?: string,
): Promise<EmailToken> => {
  const record = await table.get(EmailTokenEntity, { token_hash: sha256(token) })
  if (record?.purpose !== purpose || record.expires_at <= clock.now()) throw wrongEmailToken()
  if (developerId !== undefined && record.developer_id !== developerId) throw wrongEmailToken()
  return record
}

/** Returns the write that uses a token up. */
export const useEmailToken = ({ token_hash }: EmailToken): Write =>
  EmailTokenEntity.delete({ token_hash }, { where: { token_hash: exists }, otherwise: wrongEmailToken })

const wrongEmailToken = (): PlatformError =>
  fail('forbidden', {
    message: 'The code is wrong, was used, or is too old.',
    fix: 'Request another e-mail and send its code.',
  })
