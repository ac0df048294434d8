import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

export const REQUEST_STATUSES = ['open', 'claimed', 'fulfilled', 'declined'] as const

const agentRequest = () =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    title: z.string(),
    description: z.string(),
    votes: z.number(),
    status: z.enum(REQUEST_STATUSES),
    /** Developer who builds it. */
    claimed_by: z.object({ id: z.string(), name: z.string() }).optional(),
    claimed_at: z.number().optional(),
    /** Person who asked. Visible only to their workspace and to platform admins. */
    asked_by: z.string(),
    /** Admin's reason for the latest status. */
    status_reason: z.string().optional(),
    created_at: createdAt(),
    /** Deadline for moving it to its new rank after a vote. */
    due_at: z.number().optional(),
  })

export type AgentRequest = z.infer<ReturnType<typeof agentRequest>>

/** Name of the directory with the requests of one status. */
export const requestsBy = (status: AgentRequest['status']): string => `agent-requests-${status}`

/** Position in the list of one status by votes, highest first. The newer of equals comes first. */
export const requestRank = ({ status, votes, id }: Pick<AgentRequest, 'status' | 'votes' | 'id'>) => ({
  owner: `${requestsBy(status)}#VOTES`,
  sort: `${String(votes).padStart(9, '0')}#${id}`,
})

/** An agent that customers request. A change of status replaces the whole record, so that it moves between the boards. */
export const AgentRequestEntity = defineEntity({
  name: 'agent-request',
  schema: agentRequest,
  pk: 'ARQ#{id}',
  sk: 'ARQ',
  personal: { names: ['claimed_by'], text: ['title', 'description'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
  directory: ({ status, id }) => ({ list: requestsBy(status), sort: id }),
  list: requestRank,
})

const requestVote = () => z.object({ request_id: z.string(), user_id: z.string(), created_at: z.number() })

/** Owner of the list of a person's votes, from all workspaces. */
export const votesOf = (userId: string): string => `${userId}#VOTES`

/** A person's vote for a request. Each person has one, and it changes together with the request's count. */
export const RequestVoteEntity = defineEntity({
  name: 'request-vote',
  schema: requestVote,
  pk: 'ARQ#{request_id}',
  sk: 'VOTE#{user_id}',
  personal: 'none',
  retention: { workspace: 'kept', person: 'removed', app: 'kept' },
  list: ({ user_id, request_id }) => ({ owner: votesOf(user_id), sort: request_id }),
})

const askedRequest = () => z.object({ workspace_id: z.string(), user_id: z.string(), request_id: z.string() })

/** Owner of the list of the requests that one person made in a workspace. */
export const askedBy = (workspaceId: string, userId: string): string => `${workspaceId}#${userId}#ASKED`

/** Link from a workspace to its request. Written with the request. */
export const AskedRequestEntity = defineEntity({
  name: 'asked-request',
  schema: askedRequest,
  pk: 'WS#{workspace_id}',
  sk: 'ASKED#{request_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  list: ({ workspace_id, user_id, request_id }) => ({ owner: askedBy(workspace_id, user_id), sort: request_id }),
})
