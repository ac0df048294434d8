import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const upgrade = () =>
  z.object({
    id: z.string(),
    state: z.enum(['running', 'done']),
    /** Progress of each segment of the scan. `after` is the last key of the previous page, absent before the first. */
    segments: z.array(
      z.object({ after: z.object({ pk: z.string(), sk: z.string() }).optional(), done: z.boolean().optional() }),
    ),
    /** Records read and records changed. */
    seen: z.number(),
    changed: z.number(),
    started_at: z.number(),
    finished_at: z.number().optional(),
  })

export type UpgradeRecord = z.infer<ReturnType<typeof upgrade>>

/** Progress of an upgrade of the table's data, so that an interrupted upgrade can resume. */
export const UpgradeEntity = defineEntity({
  name: 'upgrade',
  schema: upgrade,
  pk: 'UPGRADES',
  sk: 'UPGRADE#{id}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})

const birth = () => z.object({ newest: z.number() })

export type Birth = z.infer<ReturnType<typeof birth>>

/** Number of the newest upgrade when the table was new. None of its records is older, so the table needs no upgrade up to this one. */
export const BirthEntity = defineEntity({
  name: 'birth',
  schema: birth,
  pk: 'UPGRADES',
  sk: 'BIRTH',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})
