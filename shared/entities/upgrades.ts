import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const upgrade = () =>
  z.object({
    id: z.string(),
    state: z.enum(['running', 'done']),
    /** How far each segment of the walk has come: the key to go on after; none before its first page. */
    segments: z.array(
      z.object({ after: z.object({ pk: z.string(), sk: z.string() }).optional(), done: z.boolean().optional() }),
    ),
    /** Records looked at, and records changed. */
    seen: z.number(),
    changed: z.number(),
    started_at: z.number(),
    finished_at: z.number().optional(),
  })

export type UpgradeRecord = z.infer<ReturnType<typeof upgrade>>

/** What an upgrade of the table's data has done so far, so that one that was stopped goes on where it was. */
export const UpgradeEntity = defineEntity<UpgradeRecord>()({
  name: 'upgrade',
  schema: upgrade,
  pk: 'UPGRADES',
  sk: 'UPGRADE#{id}',
})
