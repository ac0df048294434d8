import { type AgentRequest, AgentRequestEntity, AskedRequestEntity, requestsBy } from '../../entities/reviews.ts'
import type { Write } from '../../table/entity.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { counted } from '../totals.ts'
import { type NewRequestInput, presentWish, type WishedAgentView } from './schemas.ts'

/** `POST /console/agent-requests`: an organization wishes for an agent. It begins without votes, also the asker’s own. */
export const askForAgent = async (
  work: Work,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  { title, description }: NewRequestInput,
): Promise<WishedAgentView> => {
  const request: AgentRequest = {
    id: work.id('agentRequest'),
    workspace_id: workspaceId,
    title,
    description,
    votes: 0,
    status: 'open',
    asked_by: userId,
    created_at: work.clock.now(),
  }
  const view = presentWish(request, userId, false)
  const writes: Write[] = [
    AgentRequestEntity.create(request),
    AskedRequestEntity.create({ workspace_id: workspaceId, user_id: userId, request_id: request.id }),
    counted(requestsBy('open'), request.id, 1),
    auditPerson(work, { workspaceId, userId }, 'agent_request.created', { type: 'agent_request', id: request.id }),
  ]
  await work.commit(writes, view)
  return view
}
