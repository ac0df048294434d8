import { type AgentRequest, AgentRequestEntity, requestsBy } from '../../entities/reviews.ts'
import { fail } from '../../kernel/errors.ts'
import { inDirectory } from '../../table/lists.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { auditDeveloper } from '../audit/write.ts'
import type { Deps, Work } from '../deps.ts'
import { loadDeveloper } from '../developers/read.ts'
import { newNotification } from '../notifications/new.ts'
import { movedBetween } from '../totals.ts'
import { tryAgain } from '../try-again.ts'
import { type AgentRequestView, presentRequest } from './schemas.ts'

/** The board: requests of one status, newest first. */
export const listRequests = async (
  { table }: Pick<Deps, 'table'>,
  status: AgentRequest['status'],
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<AgentRequest>> => {
  const page = await inDirectory(table, AgentRequestEntity, requestsBy(status), undefined, options)
  // The index may lag behind a claim.
  return { ...page, items: page.items.filter((request) => request.status === status) }
}

/**
 * `POST /api/v1/dev/requests/{id}/claim`: the developer builds it. One wins; the organization that asked is notified. The
 * same developer's repeat answers with what is there.
 * @throws `not_found`; `conflict` when somebody else has it, or it is over
 */
export const claimRequest = (work: Work, developerId: string, requestId: string): Promise<AgentRequestView> => {
  const ids = { notification: work.id('notification'), audit: work.id('audit') }
  const once: Work = { ...work, id: (kind) => ids[kind as keyof typeof ids] }
  return tryAgain(async () => {
    const [request, developer] = await Promise.all([
      work.table.get(AgentRequestEntity, { id: requestId }),
      loadDeveloper(work, developerId),
    ])
    if (!request) throw fail('not_found', { message: 'There is no such request.' })
    if (request.claimed_by?.id === developerId && request.status === 'claimed') {
      return presentRequest(request, developerId)
    }
    if (request.status !== 'open') {
      throw fail('conflict', {
        message: `The request is ${request.status}.`,
        fix: 'Claim one that is open: GET /api/v1/dev/requests.',
      })
    }
    const claimed: AgentRequest = {
      ...request,
      status: 'claimed',
      claimed_by: { id: developer.id, name: developer.name },
      claimed_at: work.clock.now(),
    }
    const view = presentRequest(claimed, developerId)
    const { writes } = newNotification(once, {
      workspace_id: request.workspace_id,
      kind: 'request.claimed',
      title: 'Somebody builds the agent that you asked for',
      body: request.title,
      target: { type: 'agent_request', id: request.id },
    })
    await work.commit(
      [
        // Whole, because it moves to another board; a vote meanwhile makes it read again.
        AgentRequestEntity.replace(claimed, { where: { status: 'open', votes: request.votes } }),
        ...movedBetween(requestsBy('open'), requestsBy('claimed'), request.id),
        ...writes,
        auditDeveloper(once, developerId, 'agent_request.claimed', { type: 'agent_request', id: request.id }),
      ],
      view,
    )
    return view
  })
}
