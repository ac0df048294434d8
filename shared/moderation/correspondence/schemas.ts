import * as z from 'zod'
import { idField, line, time } from '#shared/foundation/schemas/index.ts'
import { DECISIONS } from './entity.ts'

/** Body of `POST …/apps/{id}/messages`, from either side. */
export const WriteAppMessage = () =>
  z
    .strictObject({ text: line(4_000).meta({ example: 'Which of the two privacy policies applies?' }) })
    .meta({ id: 'WriteAppMessage' })

/** A message between an app's developer and the moderators. */
export const AppMessageSchema = () =>
  z
    .object({
      id: idField('msg'),
      app_id: idField('app'),
      author: z.object({
        type: z.enum(['developer', 'moderator']),
        id: z.string(),
        name: z.string(),
      }),
      text: z.string(),
      decision: z
        .object({
          code: z.enum(DECISIONS),
          version: z.string().nullable(),
          fields: z
            .array(z.string())
            .nullable()
            .meta({ description: 'Changed fields of a decision about a revision.' }),
          reason: z.string().nullable(),
        })
        .nullable()
        .meta({ description: 'The decision that `text` reports in English.', example: null }),
      created_at: time(),
    })
    .meta({ id: 'AppMessage' })

/** A message as an admin sees it, with the moderator who wrote it. */
export const ModeratedAppMessageSchema = () =>
  AppMessageSchema()
    .extend({
      author: z
        .object({ type: z.enum(['developer', 'moderator']), id: z.string(), name: z.string() })
        .meta({ description: 'The developer sees every moderator as “Moderation”.' }),
    })
    .meta({ id: 'ModeratedAppMessage' })

export type ModeratedAppMessageView = z.infer<ReturnType<typeof ModeratedAppMessageSchema>>

export type AppMessageView = z.infer<ReturnType<typeof AppMessageSchema>>
