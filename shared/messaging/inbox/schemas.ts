import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { type Notification, textsInLanguage } from '#shared/identity/notifications/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { KIND_NAMES, NOTIFICATION_KINDS } from './kinds.ts'
import { startParameter } from './start-parameter.ts'

const kinds = () => Object.entries(NOTIFICATION_KINDS).map(([kind, what]) => `\`${kind}\`: ${what}`)

/** A notification as shown to a user. */
export const NotificationSchema = () =>
  z
    .object({
      id: idField('ntf'),
      kind: z.string().meta({
        description: `New kinds may be added. ${kinds().join(' ')}`,
        example: 'run.awaiting_approval',
      }),
      title: z.string(),
      body: z.string(),
      to: z.enum(['you', 'everybody']).meta({ description: '`everybody` in the workspace, or only the user.' }),
      read: z.boolean().meta({ description: 'True if this user has read it. Each user has their own state.' }),
      installation_id: idField('ins')
        .nullable()
        .meta({ description: 'Agent that the notification comes from or is about.' }),
      app_id: idField('app').nullable(),
      target: z
        .object({
          type: z.string().meta({ description: '`run`, `task`, `conversation`, `app`, `agent_request`, …' }),
          id: z.string(),
          step_id: idField('stp').optional().meta({ description: 'Step that needs a decision.' }),
        })
        .nullable()
        .meta({ description: 'Record that the notification is about.' }),
      start_parameter: z.string().nullable().meta({
        description:
          'The target as the start parameter of a Telegram link: its ID, followed by a hyphen and the step’s ID if there is a step.',
        example: 'run_01kae5m1v8w6c3x9q2r7t4y0zn-stp_01kae5m1v8w6c3x9q2r7t4y0zp',
      }),
      created_at: time(),
    })
    .meta({ id: 'InboxNotification' })

export type NotificationView = z.infer<ReturnType<typeof NotificationSchema>>

/** Presents a notification. @param locale language of the reader */
export const presentNotification = (notification: Notification, read: boolean, locale: string): NotificationView => ({
  id: notification.id,
  kind: notification.kind,
  ...textsInLanguage(notification, locale),
  to: notification.user_id === undefined ? 'everybody' : 'you',
  read,
  installation_id: notification.installation_id ?? null,
  app_id: notification.app_id ?? null,
  target: notification.target ?? null,
  start_parameter: startParameter(notification) ?? null,
  created_at: iso(notification.created_at),
})

const unread = () => z.number().int().meta({ description: 'Unread notifications, counted up to 100.', example: 3 })

/** Unread count, returned with the list and after marking notifications as read. */
export const UnreadSchema = () => z.object({ unread: unread() }).meta({ id: 'UnreadNotifications' })

export type UnreadView = z.infer<ReturnType<typeof UnreadSchema>>

/** `POST /console/notifications/read`. */
export const MarkRead = () =>
  z
    .strictObject({
      ids: z.array(z.string().min(1).max(64)).min(1).max(100).optional().meta({
        description: 'IDs to mark as read. IDs of other users’ notifications are ignored.',
      }),
      all: z.literal(true).optional(),
      until: z.string().max(64).optional().meta({
        description:
          'With `all`: the newest notification the user has seen. Newer ones stay unread. Default: the newest one.',
      }),
    })
    .refine(({ ids, all }) => (ids === undefined) !== (all === undefined), {
      path: ['ids'],
      message: 'send either ids or all',
    })
    .refine(({ all, until }) => all === true || until === undefined, {
      path: ['until'],
      message: 'is only allowed with all',
    })
    .meta({ example: { all: true } })

export type MarkRead = z.infer<ReturnType<typeof MarkRead>>

const inMessagingApp = () => ({
  muted: z.boolean().meta({ description: 'Mutes all notifications from this workspace.' }),
  off: z
    .array(z.enum(KIND_NAMES))
    .max(50)
    .meta({
      description: `Kinds that aren’t sent. ${kinds().join(' ')}`,
      example: ['agent.notice'],
    }),
})

const kindsOf = (description: string) => z.array(z.enum(KIND_NAMES)).max(50).meta({ description })

const byEmail = () => ({
  off: z.boolean().meta({ description: 'No e-mail about this workspace.' }),
  digest_off: z.boolean().meta({ description: 'No digests, in any workspace.' }),
  at_once: kindsOf('Kinds sent at once, unless the person sees the notification within 5 minutes.'),
  digest: kindsOf('Kinds in the daily digest. Kinds in neither list aren’t sent by e-mail.'),
})

/** `GET /console/notifications/preferences`. */
export const PreferencesSchema = () =>
  z
    .object({
      messaging_app: z.object({
        ...inMessagingApp(),
        muted_until: time().nullable().meta({ description: 'Mutes notifications until this time, or null.' }),
        can_be_written_to: z.boolean().meta({
          description:
            'True if the bot can message the user, who must have pressed Start in its chat and not blocked it since.',
        }),
      }),
      email: z.object({
        available: z
          .boolean()
          .meta({ description: 'True if the platform sends e-mail, and this person may have an address.' }),
        address: z.string().nullable().meta({ description: 'The person’s confirmed address.' }),
        pending_address: z.string().nullable().meta({ description: 'Address that a code was sent to.' }),
        ...byEmail(),
      }),
    })
    .meta({ id: 'NotificationPreferences' })

export type PreferencesView = z.infer<ReturnType<typeof PreferencesSchema>>

/** `PUT /console/notifications/preferences`. */
export const SetPreferences = () =>
  z
    .strictObject({
      messaging_app: z.strictObject({
        muted: inMessagingApp().muted.default(false),
        off: inMessagingApp().off.default([]),
        muted_until: z.iso
          .datetime({ offset: true })
          .nullable()
          .default(null)
          .meta({ description: 'Mutes notifications until this time.', example: '2026-11-21T18:00:00.000+00:00' }),
      }),
      email: z
        .strictObject(byEmail())
        .refine(({ at_once, digest }) => !at_once.some((kind) => digest.includes(kind)), {
          path: ['digest'],
          message: 'must not have kinds of at_once',
        })
        .optional()
        .meta({ description: 'E-mail. Stays as it is if left out, so that nothing subscribes a person again.' }),
    })
    .meta({ example: { messaging_app: { muted: false, off: ['agent.notice'], muted_until: null } } })

export type SetPreferences = z.infer<ReturnType<typeof SetPreferences>>
