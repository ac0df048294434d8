import * as z from 'zod'
import { isMask } from '../../events/catalogue.ts'
import { idField, time } from '../fields.ts'

const MASK_ERROR = 'must be an event type, a mask such as run.*, or *'

/** An event type, a mask such as `run.*`, or `*` (specification "Event types"). */
export const mask = () => z.string().refine(isMask, MASK_ERROR)

/** Masks separated by commas, as a query parameter. */
export const maskList = () =>
  z
    .string()
    .max(2_000)
    .transform((text) => text.split(','))
    .pipe(z.array(mask()).max(50))

/** An event as pollers and receivers get it (specification "Event"). */
export const EventSchema = () =>
  z
    .object({
      id: idField('evt'),
      type: z.string().meta({ example: 'run.succeeded' }),
      created_at: time(),
      workspace_id: idField('ws'),
      data: z.record(z.string(), z.unknown()),
    })
    .meta({ id: 'Event' })
