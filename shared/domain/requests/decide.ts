import { type AgentRequest, AgentRequestEntity, requestsBy } from '../../entities/reviews.ts'
import { fail } from '../../kernel/errors.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { newNotification } from '../notifications/new.ts'
import { movedBetween } from '../totals.ts'
import { tryAgain } from '../try-again.ts'
import { type ModeratedRequestView, presentModeratedRequest, type SetStatusInput } from './schemas.ts'
import { noRequest } from './vote.ts'

/**
 * `POST /admin/agent-requests/{id}/status`. Opening a request again takes it from the developer who claimed it. The
 * organization that asked is notified. The same status again changes nothing but its reason.
 * @throws `not_found`; `conflict` for claimed, where no developer has claimed it
 */
export const setRequestStatus = (
  work: Work,
  moderator: Moderator,
  requestId: string,
  { status, reason }: SetStatusInput,
): Promise<ModeratedRequestView> => {
  const ids = { notification: work.id('notification'), audit: work.id('audit') }
  const once: Work = { ...work, id: (kind) => ids[kind as keyof typeof ids] }
  return tryAgain(async () => {
    const request = await work.table.get(AgentRequestEntity, { id: requestId })
    if (!request) throw noRequest()
    if (request.status === status && request.status_reason === reason) return presentModeratedRequest(request)
    if (status === 'claimed' && !request.claimed_by) {
      throw fail('conflict', {
        message: 'No developer has claimed this request.',
        fix: 'A developer claims it with POST /api/v1/dev/requests/{id}/claim.',
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
        // Whole, because it moves to another board; a vote meanwhile makes it read again.
        AgentRequestEntity.replace(changed, { where: { status: request.status, votes: request.votes } }),
        ...movedBetween(requestsBy(request.status), requestsBy(status), requestId),
        ...(request.status === status ? [] : toldAsker(once, changed)),
        auditStaff(
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

const SAYS = {
  open: 'is open again',
  claimed: 'is being built',
  fulfilled: 'is there',
  declined: 'will not be built',
} as const

const toldAsker = (work: Work, { id, workspace_id, title, status }: AgentRequest) =>
  newNotification(work, {
    workspace_id,
    kind: 'request.status_changed',
    title: `The agent that you asked for ${SAYS[status]}`,
    body: title,
    target: { type: 'agent_request', id },
  }).writes
