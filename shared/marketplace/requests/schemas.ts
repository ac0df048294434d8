import * as z from 'zod'
import { idField, line, name, time } from '#shared/foundation/schemas/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { type AgentRequest, REQUEST_STATUSES } from './entity.ts'

/** A requested agent as developers see it. They don't see who asked. */
export const AgentRequestSchema = () =>
  z
    .object({
      id: idField('arq'),
      title: z.string(),
      description: z.string(),
      votes: z.number().int(),
      status: z.enum(REQUEST_STATUSES),
      mine: z.boolean().meta({ description: 'True if the caller claimed it.' }),
      claimed_at: time().nullable(),
      created_at: time(),
    })
    .meta({ id: 'AgentRequest' })

export type AgentRequestView = z.infer<ReturnType<typeof AgentRequestSchema>>

export const presentRequest = (request: AgentRequest, developerId: string): AgentRequestView => ({
  id: request.id,
  title: request.title,
  description: request.description,
  votes: request.votes,
  status: request.status,
  mine: request.claimed_by?.id === developerId,
  claimed_at: request.claimed_at === undefined ? null : iso(request.claimed_at),
  created_at: iso(request.created_at),
})

/** Body of `POST /console/agent-requests`. */
export const NewAgentRequest = () =>
  z
    .strictObject({
      title: name(120).meta({ description: 'What the agent would do, in a few words.', example: 'Counts the stock' }),
      description: z
        .string()
        .trim()
        .max(4_000)
        .default('')
        .meta({ description: 'Visible to every workspace and developer. Leave out anything confidential.' }),
    })
    .meta({ id: 'NewAgentRequest' })

export type NewRequestInput = z.infer<ReturnType<typeof NewAgentRequest>>

export const REQUEST_SORTS = ['newest', 'votes'] as const
export type RequestSort = (typeof REQUEST_SORTS)[number]

/** A requested agent as every workspace sees it. They don't see who asked. */
export const WishedAgentSchema = () =>
  z
    .object({
      id: idField('arq'),
      title: z.string(),
      description: z.string(),
      votes: z.number().int().meta({ description: 'Number of people who voted for it, in all workspaces.' }),
      voted: z.boolean().meta({ description: 'True if the caller voted for it.' }),
      mine: z.boolean().meta({ description: 'True if the caller asked for it.' }),
      status: z.enum(REQUEST_STATUSES).meta({
        description:
          '`open`: no developer has claimed it. `claimed`: a developer is building it. `fulfilled`: the agent is available. `declined`: it won’t be built.',
      }),
      status_reason: z.string().nullable().meta({ description: 'A platform admin’s reason for the status.' }),
      claimed_at: time().nullable(),
      created_at: time(),
    })
    .meta({ id: 'WishedAgent' })

export type WishedAgentView = z.infer<ReturnType<typeof WishedAgentSchema>>

const timeOf = (at: number | undefined): string | null => (at === undefined ? null : iso(at))

export const presentWish = (
  { id, title, description, votes, status, status_reason, asked_by, claimed_at, created_at }: AgentRequest,
  userId: string,
  voted: boolean,
): WishedAgentView => ({
  id,
  title,
  description,
  votes,
  voted,
  mine: asked_by === userId,
  status,
  status_reason: status_reason ?? null,
  claimed_at: timeOf(claimed_at),
  created_at: iso(created_at),
})

/** A requested agent as platform admins see it. */
export const ModeratedRequestSchema = () =>
  z
    .object({
      id: idField('arq'),
      title: z.string(),
      description: z.string(),
      votes: z.number().int(),
      status: z.enum(REQUEST_STATUSES),
      status_reason: z.string().nullable(),
      workspace_id: idField('ws'),
      asked_by: idField('usr'),
      claimed_by: z.object({ id: idField('dev'), name: z.string() }).nullable(),
      claimed_at: time().nullable(),
      created_at: time(),
    })
    .meta({ id: 'ModeratedAgentRequest' })

export type ModeratedRequestView = z.infer<ReturnType<typeof ModeratedRequestSchema>>

export const presentModeratedRequest = (request: AgentRequest): ModeratedRequestView => ({
  id: request.id,
  title: request.title,
  description: request.description,
  votes: request.votes,
  status: request.status,
  status_reason: request.status_reason ?? null,
  workspace_id: request.workspace_id,
  asked_by: request.asked_by,
  claimed_by: request.claimed_by ?? null,
  claimed_at: timeOf(request.claimed_at),
  created_at: iso(request.created_at),
})

/** Body of `POST /admin/agent-requests/{id}/status`. */
export const SetRequestStatus = () =>
  z
    .strictObject({
      status: z.enum(REQUEST_STATUSES),
      reason: line(2_000).optional().meta({ description: 'Shown with the request.' }),
    })
    .meta({ id: 'SetAgentRequestStatus' })

export type SetStatusInput = z.infer<ReturnType<typeof SetRequestStatus>>
