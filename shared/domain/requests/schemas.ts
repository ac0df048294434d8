import * as z from 'zod'
import { type AgentRequest, REQUEST_STATUSES } from '../../entities/reviews.ts'
import { iso } from '../../kernel/clock.ts'
import { idField, time } from '../fields.ts'

/** An agent that customers wish for, as developers see it: who asked stays with the platform. */
export const AgentRequestSchema = () =>
  z
    .object({
      id: idField('arq'),
      title: z.string(),
      description: z.string(),
      votes: z.number().int(),
      status: z.enum(REQUEST_STATUSES),
      mine: z.boolean().meta({ description: 'Claimed by the caller.' }),
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
