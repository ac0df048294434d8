import type { Deps, Work } from '#shared/foundation/work/index.ts'
import type { User } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type BotChat, BotChatEntity } from '../bot/entity.ts'
import { type NotificationPreferences, NotificationPreferencesEntity } from './entity.ts'
import type { NotificationKind } from './kinds.ts'
import { type PersonMail, PersonMailEntity } from './mail/entity.ts'
import { kindsBy, mailWays } from './mail/ways.ts'
import type { PreferencesView, SetPreferences } from './schemas.ts'

const load = async ({ table }: Pick<Deps, 'table'>, workspace_id: string, user: User) => {
  const [preferences, chat, mail] = await table.getAll([
    NotificationPreferencesEntity.ref({ workspace_id, user_id: user.id }),
    BotChatEntity.ref({ identity: user.identity }),
    PersonMailEntity.ref({ user_id: user.id }),
  ] as const)
  return { user, preferences, chat, mail }
}

export const readPreferences = async (
  deps: Pick<Deps, 'table' | 'clock' | 'settings'>,
  workspace_id: string,
  user: User,
): Promise<PreferencesView> => present(deps, await load(deps, workspace_id, user))

/** Replaces the preferences. Those for e-mail stay as they are if they aren't sent. The last write wins. */
export const setPreferences = (
  work: Work,
  workspace_id: string,
  user: User,
  { messaging_app: { muted, off, muted_until }, email }: SetPreferences,
): Promise<PreferencesView> =>
  retryOnConflict(async () => {
    const known = await load(work, workspace_id, user)
    const ways = email && mailWays(email.at_once, email.digest)
    const mail_ways = ways ? (Object.keys(ways).length > 0 ? ways : undefined) : known.preferences?.mail_ways
    const mail_off = email ? email.off : known.preferences?.mail_off
    const preferences: NotificationPreferences = {
      workspace_id,
      user_id: user.id,
      muted,
      off: [...new Set(off)],
      ...(muted_until !== null && { muted_until: Date.parse(muted_until) }),
      ...(mail_off && { mail_off }),
      ...(mail_ways && { mail_ways }),
    }
    const { mail } = known
    const digest_off = email?.digest_off || undefined
    const isChanged = email !== undefined && mail !== undefined && digest_off !== mail.digest_off
    const none = digest_off && { digest: undefined, due_at: undefined }
    const view = present(work, { ...known, preferences, mail: mail && email ? { ...mail, digest_off } : mail })
    await work.commit(
      [
        NotificationPreferencesEntity.replace(preferences),
        ...(isChanged
          ? [
              PersonMailEntity.update(
                { user_id: user.id },
                { set: { digest_off, ...none }, add: { revision: 1 } },
                { where: { revision: mail.revision } },
              ),
            ]
          : []),
      ],
      view,
    )
    return view
  })

const present = (
  { settings, clock }: Pick<Deps, 'settings' | 'clock'>,
  {
    user,
    preferences,
    chat,
    mail,
  }: {
    user: User
    preferences: NotificationPreferences | undefined
    chat: BotChat | undefined
    mail: PersonMail | undefined
  },
): PreferencesView => ({
  messaging_app: {
    muted: preferences?.muted ?? false,
    off: (preferences?.off ?? []) as NotificationKind[],
    muted_until: preferences?.muted_until === undefined ? null : iso(preferences.muted_until),
    can_be_written_to: chat?.can_be_written_to ?? false,
  },
  email: {
    available: settings.mailFrom !== undefined && user.stand_in === undefined,
    address: mail?.email ?? null,
    pending_address: mail?.pending && mail.pending.expires_at > clock.now() ? mail.pending.email : null,
    off: preferences?.mail_off ?? false,
    digest_off: mail?.digest_off ?? false,
    at_once: kindsBy(preferences, 'at_once'),
    digest: kindsBy(preferences, 'digest'),
  },
})

/** True if the user wants this kind of notification in Telegram at this time. */
export const wantsNotification = (
  preferences: NotificationPreferences | undefined,
  kind: string,
  now: number,
): boolean =>
  !preferences || !(preferences.muted || now < (preferences.muted_until ?? 0) || preferences.off.includes(kind))
