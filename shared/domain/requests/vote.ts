import { type AgentRequest, AgentRequestEntity, RequestVoteEntity, requestRank } from '../../entities/reviews.ts'
import { MINUTE } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { ifUnchanged, type Key } from '../../table/entity.ts'
import { exists, oneOf } from '../../table/expressions.ts'
import type { Deps, Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import { presentWish, type WishedAgentView } from './schemas.ts'

/**
 * `POST /console/agent-requests/{id}/vote`: a person's one vote. The count moves in the transaction of the vote, so it is
 * exact whoever votes at once; voting again changes nothing. The answer's count may lack what others added in the same moment.
 * @throws `not_found`; `conflict` for a request that is over
 */
export const voteFor = (work: Work, userId: string, requestId: string): Promise<WishedAgentView> =>
  tryAgain(async () => {
    const { request, voted } = await read(work, userId, requestId)
    if (voted) return presentWish(request, userId, true)
    if (isOver(request)) throw over(request)
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
    await rank(work, requestId)
    return view
  })

/** `DELETE /console/agent-requests/{id}/vote`: takes it back. Where there is none, there is nothing to do. */
export const takeVoteBack = (work: Work, userId: string, requestId: string): Promise<void> =>
  tryAgain(async () => {
    const { voted } = await read(work, userId, requestId)
    if (!voted) return
    await work.commit([
      RequestVoteEntity.delete({ request_id: requestId, user_id: userId }, { where: { user_id: exists } }),
      AgentRequestEntity.update({ id: requestId }, { add: { votes: -1 }, set: { due_at: work.clock.now() + MINUTE } }),
    ])
    await rank(work, requestId)
  })

/**
 * Puts a request where its votes belong. The count itself moves without being read, so that many can vote at once; of those,
 * whoever comes last places it, and the sweep does it for one who died before.
 */
export const rank = async ({ table }: Pick<Deps, 'table'>, id: string): Promise<void> => {
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

/** What the sweep does about a request whose last voter did not come to place it. */
export const handleOverdueRank = async (work: Work, key: Key): Promise<void> => {
  const request = await work.table.getByKey(AgentRequestEntity, key)
  if (request?.due_at !== undefined && request.due_at <= work.clock.now()) await rank(work, request.id)
}

const read = async ({ table }: Pick<Deps, 'table'>, user_id: string, request_id: string) => {
  const [request, vote] = await table.getAll([
    { entity: AgentRequestEntity, key: AgentRequestEntity.key({ id: request_id }) },
    { entity: RequestVoteEntity, key: RequestVoteEntity.key({ request_id, user_id }) },
  ])
  if (!request) throw noRequest()
  return { request, voted: vote !== undefined }
}

export const noRequest = () => fail('not_found', { message: 'There is no such request.' })

const isOver = ({ status }: AgentRequest): boolean => status === 'fulfilled' || status === 'declined'

const over = ({ status }: AgentRequest) =>
  fail('conflict', {
    message: `The request is ${status}.`,
    fix: 'Vote for one that is open or claimed, or ask for another agent: POST /console/agent-requests.',
  })
