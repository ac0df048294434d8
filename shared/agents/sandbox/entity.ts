import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

const seed = () =>
  z.object({
    workspace_id: z.string(),
    id: z.string(),
    task_ids: z.array(z.string()),
    runs: z.array(z.object({ installation_id: z.string(), run_id: z.string(), steps: z.number() })),
    file_ids: z.array(z.string()),
    folder_ids: z.array(z.string()),
    notification_ids: z.array(z.string()),
    /** Includes the conversations of the tasks. */
    conversation_ids: z.array(z.string()),
    /** Set when an agent was installed because the sandbox had none. */
    installation_id: z.string().optional(),
    created_at: createdAt(),
  })

export type Seed = z.infer<ReturnType<typeof seed>>

/**
 * Ids of the records that `sandbox/seed` created in a workspace. Written and deleted in the same transactions as those
 * records. At most one exists per workspace.
 */
export const SeedEntity = defineEntity({
  name: 'sandbox-seed',
  schema: seed,
  pk: 'WS#{workspace_id}',
  sk: 'SEED',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})
