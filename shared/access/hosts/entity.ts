import * as z from 'zod'
import { DAY } from '#shared/kernel/clock.ts'
import { defineEntity } from '#shared/table/entity.ts'

const client = () =>
  z.object({
    /** Address of its document, or the id of its registration. */
    id: z.string(),
    /** The name that the client gives itself. Nobody has verified it. */
    name: z.string(),
    /** Host of its document, or of the address that people return to. The owner's allow-list names these. */
    host: z.string(),
  })

const hostGrant = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    user_id: z.string(),
    client: client(),
    /** Path of the resource, such as `/mcp`. */
    resource: z.string(),
    scopes: z.array(z.string()),
    /** Start of the membership that the person consented in. A later membership doesn't revive the grant. */
    member_since: z.number(),
    status: z.enum(['active', 'revoked']),
    revoked_reason: z.string().optional(),
    created_at: z.number(),
    last_used_at: z.number().optional(),
    /** Longest life of its chain of refresh tokens. */
    expires_at: z.number(),
  })

export type HostGrant = z.infer<ReturnType<typeof hostGrant>>

/** Owner of the list of a workspace's live grants to hosts. */
export const hostGrantsOf = (workspaceId: string): string => `WS#${workspaceId}#HOSTS`

/** Period for which an ended grant stays readable. */
const KEPT = 30 * DAY

/** A person's consent that a host acts for them in one workspace. Listed while it is live. */
export const HostGrantEntity = defineEntity({
  name: 'host-grant',
  schema: hostGrant,
  pk: 'WS#{workspace_id}',
  sk: 'HOST#{id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'expires', app: 'kept' },
  expires: (item) => item.expires_at + KEPT,
  list: ({ workspace_id, id, status }) =>
    status === 'active' ? { owner: hostGrantsOf(workspace_id), sort: id } : undefined,
})
