import * as z from 'zod'
import { TOPICS } from './entity.ts'

/** Query of `GET /console/updates`. */
export const updatesQuery = () =>
  z.strictObject({
    since: z
      .string()
      .regex(/^[0-9a-z]{1,14}(-[0-9a-z]{1,14}){0,15}$/, 'must be the version of an earlier response')
      .optional()
      .meta({ description: '`version` of the previous response. Without it everything counts as changed.' }),
  })

/** `GET /console/updates`. */
export const UpdatesSchema = () =>
  z
    .object({
      version: z.string().meta({ description: 'Opaque. Send it back as `since`.', example: '1c-3-7-2-k-1-4' }),
      changed: z
        .object(
          Object.fromEntries(TOPICS.map((topic) => [topic, z.boolean()])) as Record<
            (typeof TOPICS)[number],
            z.ZodBoolean
          >,
        )
        .meta({
          description: 'Parts to reload. `notifications` also changes when the person reads some on another device.',
        }),
      counts: z
        .object(
          Object.fromEntries(TOPICS.map((topic) => [topic, z.number().int()])) as Record<
            (typeof TOPICS)[number],
            z.ZodNumber
          >,
        )
        .meta({
          description:
            'Number of changes of each part so far. A number never decreases, so an answer that arrives late or twice does no harm.',
        }),
      unread_notifications: z.number().int().meta({ description: 'Unread notifications, counted up to 100.' }),
    })
    .meta({ id: 'WorkspaceUpdates' })

export type UpdatesView = z.infer<ReturnType<typeof UpdatesSchema>>
