import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const readState = () =>
  z.object({
    workspace_id: z.string(),
    user_id: z.string(),
    /** Notifications up to this id are read. */
    read_until: z.string(),
    /** Ids read individually after that. */
    read: z.array(z.string()),
    /** Unread count up to the counting limit, and the workspace's notification number when it was counted. */
    unread: z.number(),
    counted_at: z.number(),
    /** Incremented by every change, so that concurrent changes conflict. */
    revision: z.number(),
  })

export type ReadState = z.infer<ReturnType<typeof readState>>

/** Read state of a person in a workspace, which also covers notifications to everyone. */
export const ReadStateEntity = defineEntity({
  name: 'read-state',
  schema: readState,
  pk: 'WS#{workspace_id}',
  sk: 'READ#{user_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
})

const preferences = () =>
  z.object({
    workspace_id: z.string(),
    user_id: z.string(),
    /** Mutes all notifications of this workspace in Telegram. */
    muted: z.boolean(),
    /** Mutes notifications until this time, in epoch ms. */
    muted_until: z.number().optional(),
    /** Kinds of notifications that aren't sent. */
    off: z.array(z.string()),
    /** True if no e-mail is sent about this workspace. */
    mail_off: z.boolean().optional(),
    /** Ways by e-mail that differ from the defaults, by kind. */
    mail_ways: z.record(z.string(), z.enum(['none', 'at_once', 'digest'])).optional(),
  })

export type NotificationPreferences = z.infer<ReturnType<typeof preferences>>

/** Notifications of a workspace that a person wants in Telegram and by e-mail. Without a record, the defaults apply. */
export const NotificationPreferencesEntity = defineEntity({
  name: 'notification-preferences',
  schema: preferences,
  pk: 'WS#{workspace_id}',
  sk: 'NTFPREF#{user_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
})

const notificationDelivery = () =>
  z.object({
    notification_id: z.string(),
    user_id: z.string(),
    state: z.enum(['sending', 'sent', 'given_up']),
    /** Attempts that were started. */
    tries: z.number(),
    /** The worker that holds the lease. Another may take over after `locked_until`. */
    owner: z.string(),
    locked_until: z.number(),
    created_at: z.number(),
  })

export type NotificationDelivery = z.infer<ReturnType<typeof notificationDelivery>>

/** Delivery of a notification to a person in Telegram, at most once. Outlives every message that could repeat it. */
export const NotificationDeliveryEntity = defineEntity({
  name: 'notification-delivery',
  schema: notificationDelivery,
  pk: 'NTF#{notification_id}',
  sk: 'DELIVERY#{user_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
  expires: ({ created_at }) => created_at + 20 * 86_400_000,
})

const notifiedEvent = () => z.object({ event_id: z.string(), notification_id: z.string(), created_at: z.number() })

/**
 * The notification that the platform created for an event. Written in the same transaction, so that there is only one.
 * Outlives the event.
 */
export const NotifiedEventEntity = defineEntity({
  name: 'notified-event',
  schema: notifiedEvent,
  pk: 'EVT#{event_id}',
  sk: 'NOTIFIED',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 32 },
  expires: ({ created_at }) => created_at + 32 * 86_400_000,
})
