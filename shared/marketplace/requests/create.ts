import { totalWrite } from '#shared/foundation/totals/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { type AgentRequest, AgentRequestEntity, AskedRequestEntity, requestsBy } from './entity.ts'
import { type NewRequestInput, presentWish, type WishedAgentView } from './schemas.ts'

/** Handles `POST /console/agent-requests`: requests an agent. The request starts without votes, not even the author's. */
export const createAgentRequest = async (
  work: Work,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  { title, description }: NewRequestInput,
): Promise<WishedAgentView> => {
  const request: AgentRequest = {
    ...stampOf(work.id('agentRequest')),
    workspace_id: workspaceId,
    title,
    description,
    votes: 0,
    status: 'open',
    asked_by: userId,
  }
  const view = presentWish(request, userId, false)
  const writes: Write[] = [
    AgentRequestEntity.create(request),
    AskedRequestEntity.create({ workspace_id: workspaceId, user_id: userId, request_id: request.id }),
    totalWrite(requestsBy('open'), request.id, 1),
    auditPerson(work, { workspaceId, userId }, 'agent_request.created', { type: 'agent_request', id: request.id }),
  ]
  await work.commit(writes, view)
  return view
}
