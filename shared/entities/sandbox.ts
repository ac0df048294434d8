import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const seed = () =>
  z.object({
    workspace_id: z.string(),
    id: z.string(),
    task_ids: z.array(z.string()),
    runs: z.array(z.object({ installation_id: z.string(), run_id: z.string(), steps: z.number() })),
    file_ids: z.array(z.string()),
    folder_ids: z.array(z.string()),
    notification_ids: z.array(z.string()),
    /** Those of the tasks included. */
    conversation_ids: z.array(z.string()),
    /** The agent that was installed because there was none. */
    installation_id: z.string().optional(),
    created_at: z.number(),
  })

export type Seed = z.infer<ReturnType<typeof seed>>

/**
 * What `sandbox/seed` made in a workspace, by id: written in the transaction that makes it, gone in the one that removes it.
 * There is at most one.
 */
export const SeedEntity = defineEntity<Seed>()({
  name: 'sandbox-seed',
  schema: seed,
  pk: 'WS#{workspace_id}',
  sk: 'SEED',
})
