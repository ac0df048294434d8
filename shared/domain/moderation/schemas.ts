import * as z from 'zod'
import { APP_STATUSES } from '../../entities/apps.ts'
import { AppSchema } from '../apps/schemas.ts'
import { idField, line } from '../fields.ts'

/** Body of the decisions that need a reason (decisions §7). */
export const Reason = () =>
  z
    .strictObject({
      reason: line(2_000).meta({ description: 'Shown to the developer.', example: 'The privacy policy is missing.' }),
    })
    .meta({ id: 'Reason' })

/** An app as the platform's staff sees it. */
export const ModeratedAppSchema = () =>
  AppSchema()
    .extend({
      developer_id: idField('dev'),
      status_before: z.enum(APP_STATUSES).nullable().meta({ description: 'What a suspension goes back to.' }),
    })
    .meta({ id: 'ModeratedApp' })

export type ModeratedAppView = z.infer<ReturnType<typeof ModeratedAppSchema>>
