import { totalMoveWrites } from '#shared/foundation/totals/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { newNotification } from '#shared/identity/notifications/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { msg } from '#shared/kernel/messages.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type AgentRequest, AgentRequestEntity, requestsBy } from './entity.ts'
import { type ModeratedRequestView, presentModeratedRequest, type SetStatusInput } from './schemas.ts'
import { agentRequestNotFound } from './vote.ts'

/**
 * Handles `POST /admin/agent-requests/{id}/status`. Reopening a request takes it from the developer who claimed it. The
 * workspace that asked is notified. Setting the same status again changes only the reason.
 * @throws `not_found`; `conflict` for `claimed` if no developer has claimed it
 */
export const setRequestStatus = (
  work: Work,
  moderator: Moderator,
  requestId: string,
  { status, reason }: SetStatusInput,
): Promise<ModeratedRequestView> => {
  const ids = { notification: work.id('notification'), audit: work.id('audit') }
  const once: Work = { ...work, id: (kind) => ids[kind as keyof typeof ids] }
  return retryOnConflict(async () => {
    const request = await work.table.get(AgentRequestEntity, { id: requestId })
    if (!request) throw agentRequestNotFound()
    if (request.status === status && request.status_reason === reason) return presentModeratedRequest(request)
    if (status === 'claimed' && !request.claimed_by) {
      throw fail('conflict', {
        message: 'No developer has claimed this request.',
        fix: 'Ask a developer to claim it with POST /api/v1/dev/requests/{id}/claim.',
      })
    }
    const { claimed_by, claimed_at, status_reason: _, ...rest } = request
    const changed: AgentRequest = {
      ...rest,
      ...(status !== 'open' && { claimed_by, claimed_at }),
      ...(reason !== undefined && { status_reason: reason }),
      status,
    }
    const view = presentModeratedRequest(changed)
    await work.commit(
      [
        // Replaced as a whole, because it moves to another board. A concurrent vote causes a retry.
        AgentRequestEntity.replace(changed, { where: { status: request.status, votes: request.votes } }),
        ...totalMoveWrites(requestsBy(request.status), requestsBy(status), requestId),
        ...(request.status === status ? [] : notifyAsker(once, changed)),
        auditAdmin(
          once,
          moderator,
          'agent_request.status_changed',
          { type: 'agent_request', id: requestId },
          { before: request.status, after: status, ...(reason !== undefined && { reason }) },
        ),
      ],
      view,
    )
    return view
  })
}

const STATUS_TEXT = {
  open: msg('The agent you requested is open for developers again'),
  claimed: msg('The agent you requested is being built'),
  fulfilled: msg('The agent you requested is now available'),
  declined: msg('The agent you requested won’t be built'),
} as const

const notifyAsker = (work: Work, { id, workspace_id, title, status }: AgentRequest) =>
  newNotification(work, {
    workspace_id,
    kind: 'request.status_changed',
    title: STATUS_TEXT[status],
    body: title,
    target: { type: 'agent_request', id },
  }).writes
