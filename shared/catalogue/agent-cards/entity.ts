import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const cardWatch = () =>
  z.object({
    app_id: z.string(),
    /** The newest version, whose card is checked. */
    version_id: z.string(),
    card_url: z.string(),
    /** Time of the next check. */
    check_at: z.number(),
    /** Checks in a row that found no usable card. */
    failed: z.number(),
    /** Difference from the version's card about which the developer was notified. */
    change: z
      .object({
        found_at: z.number(),
        /** Hash of the card's content. Absent if there was no usable card. */
        content_sha256: z.string().optional(),
        /** Reason why there was none. */
        problem: z.string().optional(),
      })
      .optional(),
    due_at: z.number().optional(),
  })

export type CardWatch = z.infer<ReturnType<typeof cardWatch>>

/** The daily check of the card of an app's outside A2A agent. */
export const CardWatchEntity = defineEntity({
  name: 'card-watch',
  schema: cardWatch,
  pk: 'APP#{app_id}',
  sk: 'CARD-WATCH',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'removed' },
  due: true,
})
