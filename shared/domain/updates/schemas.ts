import * as z from 'zod'
import { TOPICS } from '../../entities/updates.ts'

/** The query of the updates. */
export const updatesQuery = () =>
  z.strictObject({
    since: z
      .string()
      .regex(/^[0-9a-z]{1,14}(-[0-9a-z]{1,14}){0,15}$/, 'must be the version of an earlier answer')
      .optional()
      .meta({ description: '`version` of the answer before. Without it everything counts as changed.' }),
  })

/** `GET /console/updates`. */
export const UpdatesSchema = () =>
  z
    .object({
      version: z.string().meta({ description: 'Opaque: give it back as `since`.', example: '1c-3-7-2-k-1-4' }),
      changed: z
        .object(
          Object.fromEntries(TOPICS.map((topic) => [topic, z.boolean()])) as Record<
            (typeof TOPICS)[number],
            z.ZodBoolean
          >,
        )
        .meta({ description: 'What to read again. `notifications` also when the person read some elsewhere.' }),
      unread_notifications: z.number().int().meta({ description: 'Counted up to 100.' }),
    })
    .meta({ id: 'WorkspaceUpdates' })

export type UpdatesView = z.infer<ReturnType<typeof UpdatesSchema>>
