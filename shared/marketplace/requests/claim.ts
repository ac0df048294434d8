import { totalMoveWrites } from '#shared/foundation/totals/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { msg } from '#shared/kernel/messages.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { listDirectory } from '#shared/table/lists.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import { type AgentRequest, AgentRequestEntity, requestsBy } from './entity.ts'
import { type AgentRequestView, presentRequest } from './schemas.ts'

/** Lists the requests of one status, newest first. */
export const listRequests = async (
  { table }: Pick<Deps, 'table'>,
  status: AgentRequest['status'],
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<AgentRequest>> => {
  const page = await listDirectory(table, AgentRequestEntity, requestsBy(status), undefined, options)
  // The index may lag behind a claim.
  return { ...page, items: page.items.filter((request) => request.status === status) }
}

/**
 * Handles `POST /api/v1/dev/requests/{id}/claim`: assigns the request to a developer who builds the agent. Only one can
 * claim it, and the workspace that asked is notified. Repeating the claim returns the existing one.
 * @throws `not_found`; `conflict` if another developer has it or it is closed
 */
export const claimRequest = (work: Work, developerId: string, requestId: string): Promise<AgentRequestView> => {
  const ids = { notification: work.id('notification'), audit: work.id('audit') }
  const once: Work = { ...work, id: (kind) => ids[kind as keyof typeof ids] }
  return retryOnConflict(async () => {
    const [request, developer] = await Promise.all([
      work.table.get(AgentRequestEntity, { id: requestId }),
      loadDeveloper(work, developerId),
    ])
    if (!request) throw fail('not_found', { message: 'Agent request not found.' })
    if (request.claimed_by?.id === developerId && request.status === 'claimed') {
      return presentRequest(request, developerId)
    }
    if (request.status !== 'open') {
      throw fail('conflict', {
        message: `Only an open request can be claimed; this one is ${request.status}.`,
        fix: 'Claim an open one. GET /api/v1/dev/requests lists them.',
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
      title: msg('A developer is building the agent you requested'),
      body: request.title,
      target: { type: 'agent_request', id: request.id },
    })
    await work.commit(
      [
        // Replaced as a whole, because it moves to another board. A concurrent vote causes a retry.
        AgentRequestEntity.replace(claimed, { where: { status: 'open', votes: request.votes } }),
        ...totalMoveWrites(requestsBy('open'), requestsBy('claimed'), request.id),
        ...writes,
        auditDeveloper(once, developerId, 'agent_request.claimed', { type: 'agent_request', id: request.id }),
      ],
      view,
    )
    return view
  })
}
