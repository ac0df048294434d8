import * as z from 'zod'
import type { IdTime } from '../kernel/ids.ts'

/** Schema of `created_at` of a record with an id, which is the time in its id (kernel/ids.ts, `stampOf`). */
export const createdAt = (): z.ZodType<IdTime, IdTime> => z.number() as unknown as z.ZodType<IdTime, IdTime>
