import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const looseResult = () => z.object({ workspace_id: z.string(), object: z.string(), due_at: z.number() })

/**
 * An object in the bucket that is no task's result: not yet, while it is being stored, or not any more, after a later report.
 * Written before the object is, and removed after it, so that a worker that dies in between leaves nothing that is not found.
 */
export const LooseResultEntity = defineEntity<z.infer<ReturnType<typeof looseResult>>>()({
  name: 'loose-result',
  schema: looseResult,
  pk: 'WS#{workspace_id}',
  sk: 'LOOSERESULT#{object}',
  due: true,
})
