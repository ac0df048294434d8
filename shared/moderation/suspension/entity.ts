import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const stoppage = () =>
  z.object({
    /** Kind of the suspended subject. */
    kind: z.enum(['app', 'workspace', 'installation']),
    id: z.string(),
    /** Set for an installation. */
    workspace_id: z.string().optional(),
    began_at: z.number(),
    /** Start of the current round through the installations. `after` is where the round continues. */
    round_at: z.number(),
    after: z.string().optional(),
    /** Incremented by every step, so that only one of two workers continues. */
    step: z.number(),
    due_at: z.number(),
  })

export type Stoppage = z.infer<ReturnType<typeof stoppage>>

/** Pending end of runs after a suspension. Written with the suspension and deleted once the runs have ended. */
export const StoppageEntity = defineEntity({
  name: 'stoppage',
  schema: stoppage,
  pk: 'STOPPAGE#{kind}#{id}',
  sk: 'STOPPAGE',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  due: true,
})
