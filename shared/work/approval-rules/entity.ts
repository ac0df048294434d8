import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'
import { ApprovalRule } from './schemas.ts'

const approvalRules = () =>
  z.object({
    workspace_id: z.string(),
    /** Also on the workspace, so that a decision under earlier rules is noticed without them. */
    revision: z.number(),
    rules: z.array(ApprovalRule()),
    /** Start of the membership of each person whom the rules name. A later membership of theirs doesn't count. */
    named_since: z.record(z.string(), z.number()),
    changed_by: z.object({ id: z.string(), name: z.string() }),
    changed_at: z.number(),
  })

/** A workspace's rules for approvals, in their order. Without a record, any member approves any call. */
export const ApprovalRulesEntity = defineEntity({
  name: 'approval-rules',
  schema: approvalRules,
  pk: 'WS#{workspace_id}',
  sk: 'APPROVALRULES',
  personal: { names: ['changed_by'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const away = () =>
  z.object({
    workspace_id: z.string(),
    user_id: z.string(),
    /** Start of their membership, and of their delegate's. The delegation ends with either. */
    member_since: z.number(),
    delegate_id: z.string(),
    delegate_since: z.number(),
    until: z.number(),
    created_at: z.number(),
  })

export type Away = z.infer<ReturnType<typeof away>>

/** Person who is away, and the member who approves in their place until then. */
export const AwayEntity = defineEntity({
  name: 'away',
  schema: away,
  pk: 'WS#{workspace_id}',
  sk: 'AWAY#{user_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'removed', app: 'kept' },
  expires: ({ until }) => until,
})
