import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import {
  isRead,
  listNotifications,
  listUnread,
  loadInbox,
  loadUnreadCount,
  MarkRead,
  markRead,
  NotificationSchema,
  PreferencesSchema,
  presentNotification,
  readPreferences,
  SetPreferences,
  setPreferences,
  UnreadSchema,
} from '#shared/messaging/inbox/index.ts'

const common = { group: 'console', caller: 'console' } as const

const list = defineEndpoint({
  ...common,
  id: 'console.notifications.list',
  method: 'GET',
  path: '/console/notifications',
  summary: 'List your notifications, newest first',
  description:
    'Contains notifications to you and to everyone in the workspace, from the last 90 days. Notifications from ' +
    'before you joined count as read. With `unread=true`, a page can have fewer items than its limit.',
  query: () =>
    pageQuery({
      unread: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .meta({ description: 'Only unread notifications.' }),
    }),
  list: {
    load: ({ work, caller }) => loadInbox(work, caller.member),
    read: ({ work, caller: { member }, query }, page, inbox) =>
      query.unread ? listUnread(work, member, inbox.state, page) : listNotifications(work, member, page),
    present: (notification, { caller }, inbox) =>
      presentNotification(notification, isRead(inbox.state, notification.id), caller.user.locale),
    also: async ({ work, caller, query }, inbox) => ({
      unread: await loadUnreadCount(work, caller.member, inbox, query.cursor === undefined),
    }),
  },
  response: NotificationSchema,
  also: UnreadSchema,
})

const read = defineEndpoint({
  ...common,
  id: 'console.notifications.markRead',
  method: 'POST',
  path: '/console/notifications/read',
  summary: 'Mark notifications as read',
  description:
    'Marks them for you only: notifications to everyone stay unread for others. Marking them again has no effect.',
  body: MarkRead,
  response: UnreadSchema,
  errors: ['not_found', 'conflict'],
  handler: ({ work, caller, body }) => markRead(work, caller.member, body),
})

const preferences = defineEndpoint({
  ...common,
  id: 'console.notifications.readPreferences',
  method: 'GET',
  path: '/console/notifications/preferences',
  summary: 'Get your notification preferences',
  description: 'Shows which notifications of this workspace you also get in the messenger.',
  response: PreferencesSchema,
  handler: ({ work, caller }) => readPreferences(work, caller.workspace.id, caller.user),
})

const prefer = defineEndpoint({
  ...common,
  id: 'console.notifications.setPreferences',
  method: 'PUT',
  path: '/console/notifications/preferences',
  summary: 'Choose which notifications you get in the messenger',
  description:
    'Applies to you in this workspace. Preferences that you leave out return to their defaults. The console always ' +
    'shows all notifications.',
  body: SetPreferences,
  response: PreferencesSchema,
  handler: ({ work, caller, body }) => setPreferences(work, caller.workspace.id, caller.user, body),
})

export const endpoints = [list, read, preferences, prefer]
