import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { isMask, MASK_LENGTH, maskPattern } from '../catalogue/catalogue.ts'

const MASK_ERROR = 'must be an event type, a mask such as run.*, or *'

/** Schema of an event type, a mask such as `run.*`, or `*` (contract/events-and-webhooks.md#masks). */
export const eventMaskSchema = () =>
  z
    .string()
    .refine(isMask, MASK_ERROR)
    .meta({ id: 'EventMask', maxLength: MASK_LENGTH, pattern: maskPattern(), example: 'run.*' })

/** Schema of comma-separated masks in a query parameter. */
export const eventMaskListSchema = () =>
  z
    .string()
    .max(2_000)
    .transform((text) => text.split(','))
    .pipe(z.array(eventMaskSchema()).max(50))

/** An event as pollers and receivers get it (contract/events-and-webhooks.md#event-envelope). */
export const EventSchema = () =>
  z
    .object({
      id: idField('evt'),
      type: z.string().meta({ example: 'run.succeeded' }),
      created_at: time(),
      workspace_id: idField('ws'),
      data: z.record(z.string(), z.unknown()),
      test: z
        .literal(true)
        .optional()
        .meta({ description: 'A sample that the app’s developer triggered in their sandbox; absent otherwise.' }),
    })
    .meta({
      id: 'FeedEvent',
      example: {
        id: 'evt_01kae5m1v8w6c3x9q2r7t4y0zn',
        type: 'run.succeeded',
        created_at: '2026-11-21T10:15:30.123+00:00',
        workspace_id: 'ws_01kae5m1v8w6c3x9q2r7t4y0zn',
        data: {
          run_id: 'run_01kae5m1v8w6c3x9q2r7t4y0zn',
          app_id: 'app_01kae5m1v8w6c3x9q2r7t4y0zn',
          installation_id: 'ins_01kae5m1v8w6c3x9q2r7t4y0zn',
          status: 'succeeded',
          trigger: 'api',
          duration_ms: 1_840,
        },
      },
    })
