import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const formerMember = () => z.object({ workspace_id: z.string(), user_id: z.string(), left_at: z.number() })

/** The workspaces that a person was in and is not any more. */
export const formerlyOf = (userId: string): string => `USR#${userId}#LEFT`

/**
 * Somebody who left a workspace or was removed from it. Their chats wait there for them to come back; when they delete their
 * account, they are found by this.
 */
export const FormerMemberEntity = defineEntity<z.infer<ReturnType<typeof formerMember>>>()({
  name: 'former-member',
  schema: formerMember,
  pk: 'WS#{workspace_id}',
  sk: 'LEFT#{user_id}',
  list: ({ user_id, workspace_id }) => ({ owner: formerlyOf(user_id), sort: workspace_id }),
})
