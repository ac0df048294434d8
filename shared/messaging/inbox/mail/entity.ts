import * as z from 'zod'
import { DAY } from '#shared/kernel/clock.ts'
import { defineEntity } from '#shared/table/entity.ts'

const personMail = () =>
  z.object({
    user_id: z.string(),
    /** Confirmed address. Absent until the person has confirmed one. */
    email: z.string().optional(),
    /** Address to confirm with a code. */
    pending: z
      .object({ email: z.string(), code_hash: z.string(), expires_at: z.number(), tries: z.number() })
      .optional(),
    /** Key that signs the links to end e-mail. A new address gets a new one. */
    link_key: z.string(),
    /** True if the person wants no digests, in any workspace. */
    digest_off: z.boolean().optional(),
    /** The next digest. Absent while there is nothing for it. */
    digest: z
      .object({
        /** Time at which it is sent, in epoch ms. */
        at: z.number(),
        workspace_ids: z.array(z.string()),
        /** Attempts that were started, and the end of the lease of the last one. */
        tries: z.number(),
        locked_until: z.number(),
      })
      .optional(),
    /** Time from which notifications were in no digest yet. */
    digest_from: z.number().optional(),
    /** Day of the last digest in the person's time zone, as `2026-11-21`. */
    digest_day: z.string().optional(),
    /** Incremented by every change of the digest, so that concurrent changes conflict. */
    revision: z.number(),
    due_at: z.number().optional(),
  })

export type PersonMail = z.infer<ReturnType<typeof personMail>>

/** A person's e-mail address, and their next digest. */
export const PersonMailEntity = defineEntity({
  name: 'person-mail',
  schema: personMail,
  pk: 'USR#{user_id}',
  sk: 'MAIL',
  personal: { contact: ['email', 'pending'] },
  retention: { workspace: 'kept', person: 'removed', app: 'kept' },
  due: true,
})

const notificationMail = () =>
  z.object({
    notification_id: z.string(),
    user_id: z.string(),
    workspace_id: z.string(),
    /** `skipped`: the person had seen the notification, or may no longer see it. */
    state: z.enum(['waiting', 'sent', 'skipped', 'given_up']),
    /** Time at which it is sent, unless the person has seen the notification. */
    send_at: z.number(),
    /** Attempts that were started, and the end of the lease of the last one. */
    tries: z.number(),
    locked_until: z.number(),
    created_at: z.number(),
    due_at: z.number().optional(),
  })

export type NotificationMail = z.infer<ReturnType<typeof notificationMail>>

/** E-mail about one notification to one person, at most one. Outlives every message that could repeat it. */
export const NotificationMailEntity = defineEntity({
  name: 'notification-mail',
  schema: notificationMail,
  pk: 'NTF#{notification_id}',
  sk: 'MAIL#{user_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
  due: true,
  expires: ({ created_at }) => created_at + 20 * DAY,
})
