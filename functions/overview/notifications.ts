import * as z from 'zod'
import { isRead, notificationsFor, unreadFor } from '#shared/domain/notifications/list.ts'
import { markRead } from '#shared/domain/notifications/mark-read.ts'
import { readPreferences, setPreferences } from '#shared/domain/notifications/preferences.ts'
import { inboxOf, unreadOf } from '#shared/domain/notifications/read-state.ts'
import {
  MarkRead,
  NotificationSchema,
  PreferencesSchema,
  presentNotification,
  SetPreferences,
  UnreadSchema,
} from '#shared/domain/notifications/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = { group: 'console', caller: 'console' } as const

const list = defineEndpoint({
  ...common,
  id: 'console.notifications.list',
  method: 'GET',
  path: '/console/notifications',
  summary: 'The person’s notifications, newest first',
  description:
    'Those to the person and those to everybody in the workspace, of the last 90 days. What was told before they joined is ' +
    'read. With `unread=true` a page may hold fewer than its limit.',
  query: () =>
    pageQuery({
      unread: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .meta({ description: 'Only unread ones.' }),
    }),
  list: 'page',
  response: NotificationSchema,
  beside: UnreadSchema,
  handler: async ({ work, caller, query }) => {
    const { member } = caller
    const inbox = await inboxOf(work, member)
    const page = await paged(
      work,
      caller,
      ['console.notifications.list', query.unread],
      query,
      (options) =>
        query.unread ? unreadFor(work, member, inbox.state, options) : notificationsFor(work, member, options),
      (notification) => presentNotification(notification, isRead(inbox.state, notification.id)),
    )
    return { ...page, unread: await unreadOf(work, member, inbox, query.cursor === undefined) }
  },
})

const read = defineEndpoint({
  ...common,
  id: 'console.notifications.markRead',
  method: 'POST',
  path: '/console/notifications/read',
  summary: 'Mark notifications as read',
  description: 'For this person; those to everybody stay unread for others. Marking again changes nothing.',
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
  summary: 'What of this workspace is sent to the person in the messaging app',
  response: PreferencesSchema,
  handler: ({ work, caller }) => readPreferences(work, caller.workspace.id, caller.user),
})

const prefer = defineEndpoint({
  ...common,
  id: 'console.notifications.setPreferences',
  method: 'PUT',
  path: '/console/notifications/preferences',
  summary: 'Choose what of this workspace is sent in the messaging app',
  description:
    'The person’s own, for this workspace; what is left out becomes the default. In the console all of them stand.',
  body: SetPreferences,
  response: PreferencesSchema,
  handler: ({ work, caller, body }) => setPreferences(work, caller.workspace.id, caller.user, body),
})

export const notificationEndpoints = [list, read, preferences, prefer]
