import type { Deps, Work } from '#shared/foundation/work/index.ts'
import type { User } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { type BotChat, BotChatEntity } from '../bot/entity.ts'
import { type NotificationPreferences, NotificationPreferencesEntity } from './entity.ts'
import type { NotificationKind } from './kinds.ts'
import type { PreferencesView, SetPreferences } from './schemas.ts'

export const readPreferences = async (
  { table }: Pick<Deps, 'table'>,
  workspace_id: string,
  user: User,
): Promise<PreferencesView> => {
  const [preferences, chat] = await table.getAll([
    NotificationPreferencesEntity.ref({ workspace_id, user_id: user.id }),
    BotChatEntity.ref({ identity: user.identity }),
  ])
  return present(preferences, chat)
}

/** Replaces all preferences. The last write wins. */
export const setPreferences = async (
  work: Work,
  workspace_id: string,
  user: User,
  { messaging_app: { muted, off, muted_until } }: SetPreferences,
): Promise<PreferencesView> => {
  const chat = await work.table.get(BotChatEntity, { identity: user.identity })
  const preferences: NotificationPreferences = {
    workspace_id,
    user_id: user.id,
    muted,
    off: [...new Set(off)],
    ...(muted_until !== null && { muted_until: Date.parse(muted_until) }),
  }
  const view = present(preferences, chat)
  await work.commit([NotificationPreferencesEntity.replace(preferences)], view)
  return view
}

const present = (preferences: NotificationPreferences | undefined, chat: BotChat | undefined): PreferencesView => ({
  messaging_app: {
    muted: preferences?.muted ?? false,
    off: (preferences?.off ?? []) as NotificationKind[],
    muted_until: preferences?.muted_until === undefined ? null : iso(preferences.muted_until),
    can_be_written_to: chat?.can_be_written_to ?? false,
  },
})

/** True if the user wants this kind of notification in Telegram at this time. */
export const wantsNotification = (
  preferences: NotificationPreferences | undefined,
  kind: string,
  now: number,
): boolean =>
  !preferences || !(preferences.muted || now < (preferences.muted_until ?? 0) || preferences.off.includes(kind))
