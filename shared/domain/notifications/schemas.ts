import * as z from 'zod'
import type { Notification } from '../../entities/notifications.ts'
import { iso } from '../../kernel/clock.ts'
import { idField, time } from '../fields.ts'
import { KIND_NAMES, NOTIFICATION_KINDS } from './kinds.ts'
import { startParameter } from './start-parameter.ts'

const kinds = () => Object.entries(NOTIFICATION_KINDS).map(([kind, what]) => `\`${kind}\`: ${what}`)

/** A notification as the person sees it. */
export const NotificationSchema = () =>
  z
    .object({
      id: idField('ntf'),
      kind: z.string().meta({
        description: `More kinds may come. ${kinds().join(' ')}`,
        example: 'run.awaiting_approval',
      }),
      title: z.string(),
      body: z.string(),
      to: z.enum(['you', 'everybody']).meta({ description: 'Everybody of the workspace, or the person alone.' }),
      read: z.boolean().meta({ description: 'By this person; others read for themselves.' }),
      installation_id: idField('ins').nullable().meta({ description: 'The agent that it comes from or is about.' }),
      app_id: idField('app').nullable(),
      target: z
        .object({
          type: z.string().meta({ description: '`run`, `task`, `conversation`, `app`, `agent_request`, …' }),
          id: z.string(),
          step_id: idField('stp').optional().meta({ description: 'The step to decide.' }),
        })
        .nullable()
        .meta({ description: 'Where it leads.' }),
      start_parameter: z.string().nullable().meta({
        description:
          'The same as the parameter of a link into the messaging app: the target’s id, and behind a hyphen its step’s.',
        example: 'run_01kae5m1v8w6c3x9q2r7t4y0zn-stp_01kae5m1v8w6c3x9q2r7t4y0zp',
      }),
      created_at: time(),
    })
    .meta({ id: 'Notification' })

export type NotificationView = z.infer<ReturnType<typeof NotificationSchema>>

export const presentNotification = (notification: Notification, read: boolean): NotificationView => ({
  id: notification.id,
  kind: notification.kind,
  title: notification.title,
  body: notification.body,
  to: notification.user_id === undefined ? 'everybody' : 'you',
  read,
  installation_id: notification.installation_id ?? null,
  app_id: notification.app_id ?? null,
  target: notification.target ?? null,
  start_parameter: startParameter(notification) ?? null,
  created_at: iso(notification.created_at),
})

const unread = () => z.number().int().meta({ description: 'Unread notifications, counted up to 100.', example: 3 })

/** What the list has beside its items, and what marking answers. */
export const UnreadSchema = () => z.object({ unread: unread() }).meta({ id: 'UnreadNotifications' })

export type UnreadView = z.infer<ReturnType<typeof UnreadSchema>>

/** `POST /console/notifications/read`. */
export const MarkRead = () =>
  z
    .strictObject({
      ids: z.array(z.string().min(1).max(64)).min(1).max(100).optional().meta({
        description: 'These; one that is not the person’s is left out.',
      }),
      all: z.literal(true).optional(),
      until: z.string().max(64).optional().meta({
        description:
          'With `all`: the newest one that the person has seen; what came after it stays unread. Default: the newest of all.',
      }),
    })
    .refine(({ ids, all }) => (ids === undefined) !== (all === undefined), {
      path: ['ids'],
      message: 'give exactly one of ids and all',
    })
    .refine(({ all, until }) => all === true || until === undefined, { path: ['until'], message: 'goes with all only' })
    .meta({ example: { all: true } })

export type MarkRead = z.infer<ReturnType<typeof MarkRead>>

const inMessagingApp = () => ({
  muted: z.boolean().meta({ description: 'Nothing of this workspace is sent.' }),
  off: z
    .array(z.enum(KIND_NAMES))
    .max(50)
    .meta({
      description: `Kinds that are not sent. ${kinds().join(' ')}`,
      example: ['agent.notice'],
    }),
})

/** `GET /console/notifications/preferences`. */
export const PreferencesSchema = () =>
  z
    .object({
      messaging_app: z.object({
        ...inMessagingApp(),
        muted_until: time().nullable().meta({ description: 'Nothing is sent until then; null: no such time.' }),
        can_be_written_to: z.boolean().meta({
          description:
            'Whether the bot may write to the person: they pressed Start in its chat, and did not block it since.',
        }),
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
          .meta({ description: 'Nothing is sent until then.', example: '2026-11-21T18:00:00.000+00:00' }),
      }),
    })
    .meta({ example: { messaging_app: { muted: false, off: ['agent.notice'], muted_until: null } } })

export type SetPreferences = z.infer<ReturnType<typeof SetPreferences>>
