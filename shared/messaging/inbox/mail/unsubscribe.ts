import { createHmac } from 'node:crypto'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { MemberEntity, UserEntity } from '#shared/identity/people/index.ts'
import { isId } from '#shared/kernel/ids.ts'
import { translator } from '#shared/kernel/messages.ts'
import { sameSecret } from '#shared/kernel/secrets.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { exists } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { NotificationPreferencesEntity } from '../entity.ts'
import { PersonMailEntity } from './entity.ts'

/** E-mail that a link ends: all of one workspace, or digests. */
type List = string | 'digest'

const signature = (link_key: string, user_id: string, list: List): string =>
  createHmac('sha256', link_key).update(`${user_id}.${list}`).digest('base64url')

/** Returns the address that ends e-mail of a list for its reader, without signing in (RFC 8058). */
export const unsubscribeUrl = (
  baseUrl: string,
  { link_key, user_id }: { link_key: string; user_id: string },
  list: List,
) => `${baseUrl}/console/email/unsubscribe?token=${user_id}.${list}.${signature(link_key, user_id, list)}`

/** Person and list that a link of an e-mail names, and the person's language. */
interface Subscription {
  user_id: string
  list: List
  locale: string
}

/** Checks the token of an unsubscribe link. @returns undefined for a wrong or old one */
export const readUnsubscribeToken = async (
  { table }: Pick<Deps, 'table'>,
  token: string,
): Promise<Subscription | undefined> => {
  const [user_id = '', list = '', given = ''] = token.split('.')
  if (!isId('user', user_id) || !(list === 'digest' || isId('workspace', list))) return undefined
  const [mail, user] = await table.getAll([PersonMailEntity.ref({ user_id }), UserEntity.ref({ id: user_id })] as const)
  if (!mail || user?.status !== 'active' || !sameSecret(given, signature(mail.link_key, user_id, list)))
    return undefined
  return { user_id, list, locale: user.locale }
}

/** Ends e-mail of a list for a person. Ending it again has no effect. */
export const unsubscribe = async (work: Work, { user_id, list }: Subscription): Promise<void> => {
  if (list === 'digest') {
    const set = { digest_off: true, digest: undefined, due_at: undefined }
    const change = PersonMailEntity.update({ user_id }, { set, add: { revision: 1 } }, { where: { link_key: exists } })
    await ifUnchanged(work.commit([change]))
    return
  }
  await retryOnConflict(async () => {
    const at = { workspace_id: list, user_id }
    const [member, known] = await work.table.getAll([
      MemberEntity.ref(at),
      NotificationPreferencesEntity.ref(at),
    ] as const)
    // Former members get none anyway, and nothing of theirs may stay.
    if (!member) return
    await work.commit([
      known
        ? NotificationPreferencesEntity.update(at, { set: { mail_off: true } })
        : NotificationPreferencesEntity.create({ ...at, muted: false, off: [], mail_off: true }),
    ])
  })
}

/** Returns the texts of the page behind an unsubscribe link. @param list absent for a link that doesn't work */
export const unsubscribeTexts = (language: string, list: List | undefined) => {
  const t = translator(language)
  const effect =
    list === 'digest'
      ? t('You won’t get the daily digest anymore. E-mail about what waits for you still comes.')
      : t('You won’t get any e-mail from this workspace anymore.')
  return {
    language,
    title: list === undefined ? t('This link doesn’t work anymore') : t('Stop these e-mails?'),
    question:
      list === undefined
        ? t(
            'It belongs to an address that was changed or removed. Choose your e-mails under Notifications in the console.',
          )
        : effect,
    button: t('Unsubscribe'),
    doneTitle: t('You’re unsubscribed'),
    done: effect,
    back: t('You can change this at any time under Notifications in the console.'),
  }
}
