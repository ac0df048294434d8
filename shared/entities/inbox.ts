import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const readState = () =>
  z.object({
    workspace_id: z.string(),
    user_id: z.string(),
    /** Everything up to this id is read. */
    read_until: z.string(),
    /** What was read after that, one by one. */
    read: z.array(z.string()),
    /** What is unread, as far as it was counted, and the number of the workspace's notifications that it was counted at. */
    unread: z.number(),
    counted_at: z.number(),
    /** Raised by every change: of two at once, one reads again. */
    revision: z.number(),
  })

export type ReadState = z.infer<ReturnType<typeof readState>>

/** What a person has read in a workspace, of those to everybody too. */
export const ReadStateEntity = defineEntity<ReadState>()({
  name: 'read-state',
  schema: readState,
  pk: 'WS#{workspace_id}',
  sk: 'READ#{user_id}',
})

const preferences = () =>
  z.object({
    workspace_id: z.string(),
    user_id: z.string(),
    /** Nothing of this workspace is sent to the messaging app. */
    muted: z.boolean(),
    /** Nothing until then, epoch ms. */
    muted_until: z.number().optional(),
    /** Kinds that are not sent. */
    off: z.array(z.string()),
  })

export type NotificationPreferences = z.infer<ReturnType<typeof preferences>>

/** What of a workspace a person wants to hear of in the messaging app; absent: everything. */
export const NotificationPreferencesEntity = defineEntity<NotificationPreferences>()({
  name: 'notification-preferences',
  schema: preferences,
  pk: 'WS#{workspace_id}',
  sk: 'NTFPREF#{user_id}',
})

const toldPerson = () =>
  z.object({
    notification_id: z.string(),
    user_id: z.string(),
    state: z.enum(['sending', 'sent', 'given_up']),
    /** Messages that were begun. */
    tries: z.number(),
    /** The worker that sends it; another takes over after `locked_until`. */
    owner: z.string(),
    locked_until: z.number(),
    created_at: z.number(),
  })

export type ToldPerson = z.infer<ReturnType<typeof toldPerson>>

/** That a person is told of a notification in the messaging app, once. Outlives every message that could repeat it. */
export const ToldPersonEntity = defineEntity<ToldPerson>()({
  name: 'told-person',
  schema: toldPerson,
  pk: 'NTF#{notification_id}',
  sk: 'TOLD#{user_id}',
  expires: ({ created_at }) => created_at + 20 * 86_400_000,
})

const notifiedEvent = () => z.object({ event_id: z.string(), notification_id: z.string(), created_at: z.number() })

/** The notification that the platform made of an event; written with it, so that there is one. Outlives the event. */
export const NotifiedEventEntity = defineEntity<z.infer<ReturnType<typeof notifiedEvent>>>()({
  name: 'notified-event',
  schema: notifiedEvent,
  pk: 'EVT#{event_id}',
  sk: 'NOTIFIED',
  expires: ({ created_at }) => created_at + 32 * 86_400_000,
})
