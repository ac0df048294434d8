import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { ifUnchanged, type Key } from '#shared/table/entity.ts'
import { exists, oneOf } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type AgentRequest, AgentRequestEntity, RequestVoteEntity, requestRank } from './entity.ts'
import { presentWish, type WishedAgentView } from './schemas.ts'

/**
 * Handles `POST /console/agent-requests/{id}/vote`: adds a person's only vote. The count changes in the vote's
 * transaction, so it stays exact under concurrent votes. Voting again changes nothing. The count in the response may not
 * include concurrent votes.
 * @throws `not_found`; `conflict` for a closed request
 */
export const voteFor = (work: Work, userId: string, requestId: string): Promise<WishedAgentView> =>
  retryOnConflict(async () => {
    const { request, voted } = await read(work, userId, requestId)
    if (voted) return presentWish(request, userId, true)
    if (isClosed(request)) throw closed(request)
    const view = presentWish({ ...request, votes: request.votes + 1 }, userId, true)
    await work.commit(
      [
        RequestVoteEntity.create({ request_id: requestId, user_id: userId, created_at: work.clock.now() }),
        AgentRequestEntity.update(
          { id: requestId },
          { add: { votes: 1 }, set: { due_at: work.clock.now() + MINUTE } },
          { where: { status: oneOf('open', 'claimed') } },
        ),
      ],
      view,
    )
    await updateRank(work, requestId)
    return view
  })

/** Handles `DELETE /console/agent-requests/{id}/vote`: withdraws the vote, if there is one. */
export const withdrawVote = (work: Work, userId: string, requestId: string): Promise<void> =>
  retryOnConflict(async () => {
    const { voted } = await read(work, userId, requestId)
    if (!voted) return
    await work.commit([
      RequestVoteEntity.delete({ request_id: requestId, user_id: userId }, { where: { user_id: exists } }),
      AgentRequestEntity.update({ id: requestId }, { add: { votes: -1 }, set: { due_at: work.clock.now() + MINUTE } }),
    ])
    await updateRank(work, requestId)
  })

/**
 * Moves a request to the rank of its vote count. The count changes without a read, so that many people can vote at once.
 * The last of them updates the rank. If that vote's process fails first, the sweeper does.
 */
export const updateRank = async ({ table }: Pick<Deps, 'table'>, id: string): Promise<void> => {
  const request = await table.get(AgentRequestEntity, { id })
  if (request?.due_at === undefined) return
  await ifUnchanged(
    table.transact([
      AgentRequestEntity.update(
        { id },
        { set: { due_at: undefined }, list: requestRank(request) },
        { where: { votes: request.votes, status: request.status } },
      ),
    ]),
  )
}

/** Updates an overdue rank for the sweeper, after the last voter's process failed before it. */
export const handleOverdueRank = async (work: Work, key: Key): Promise<void> => {
  const request = await work.table.getByKey(AgentRequestEntity, key)
  if (request?.due_at !== undefined && request.due_at <= work.clock.now()) await updateRank(work, request.id)
}

const read = async ({ table }: Pick<Deps, 'table'>, user_id: string, request_id: string) => {
  const [request, vote] = await table.getAll([
    AgentRequestEntity.ref({ id: request_id }),
    RequestVoteEntity.ref({ request_id, user_id }),
  ])
  if (!request) throw agentRequestNotFound()
  return { request, voted: vote !== undefined }
}

export const agentRequestNotFound = () => fail('not_found', { message: 'Agent request not found.' })

const isClosed = ({ status }: AgentRequest): boolean => status === 'fulfilled' || status === 'declined'

const closed = ({ status }: AgentRequest) =>
  fail('conflict', {
    message: `Voting is closed because the request is ${status}.`,
    fix: 'Vote for an open or claimed request, or request another agent with POST /console/agent-requests.',
  })
