import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'
import { person } from './entity.ts'

const grant = () =>
  z.object({
    id: z.string(),
    installation_id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    scopes: z.array(z.string()),
    status: z.enum(['active', 'revoked']),
    revoked_reason: z.string().optional(),
    approved_by: person().optional(),
    kind: z.enum(['oauth', 'sandbox']),
    /** On a sandbox grant: the developer's credential with which it ends. */
    giver: z.object({ developer_id: z.string(), given_by: z.string() }).optional(),
    created_at: createdAt(),
    last_used_at: z.number().optional(),
    /** Time at which an admin of the workspace paused it. Absent while it isn't paused. */
    paused_at: z.number().optional(),
    due_at: z.number().optional(),
  })

export type Grant = z.infer<ReturnType<typeof grant>>

/** Owner of the list of a workspace's live grants. */
export const grantsOf = (workspaceId: string): string => `WS#${workspaceId}#GRANTS`

/** One consent and its chain of refresh tokens. Listed while it is live. */
export const GrantEntity = defineEntity({
  name: 'grant',
  schema: grant,
  pk: 'INS#{installation_id}',
  sk: 'GRT#{id}',
  personal: { names: ['approved_by'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  list: ({ workspace_id, id, status }) =>
    status === 'active' ? { owner: grantsOf(workspace_id), sort: id } : undefined,
})
