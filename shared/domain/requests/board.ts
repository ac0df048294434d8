import {
  type AgentRequest,
  AgentRequestEntity,
  AskedRequestEntity,
  askedBy,
  REQUEST_STATUSES,
  RequestVoteEntity,
  requestRank,
  requestsBy,
} from '../../entities/reviews.ts'
import { type ListSource, mergedPage } from '../../table/lists.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps } from '../deps.ts'
import type { RequestSort } from './schemas.ts'

type Reading = Pick<Deps, 'table'>
type Paging = Pick<QueryOptions, 'limit' | 'after'>
type Status = AgentRequest['status']

export const statusesOf = (status: Status | undefined): readonly Status[] =>
  status === undefined ? REQUEST_STATUSES : [status]

/**
 * The board that every organization sees, of one status or of all. Each status has a list of its own in both orders, all with
 * sort values of one kind, so that a page of all is the best of a page of each.
 */
export const requestBoard = async (
  { table }: Reading,
  { status, sort }: { status: Status | undefined; sort: RequestSort },
  options: Paging,
): Promise<Page<AgentRequest>> => {
  const page = await mergedPage(table, AgentRequestEntity, requestSources(status, sort), options)
  // The index may lag behind a change of status, which then shows a request in two lists.
  const items = page.items.filter(({ id }, i) => page.items.findIndex((one) => one.id === id) === i)
  return { items: status === undefined ? items : items.filter((request) => request.status === status), next: page.next }
}

/** What one person asked for in a workspace, newest first. */
export const requestsAskedBy = async (
  { table }: Reading,
  workspaceId: string,
  userId: string,
  options: Paging,
): Promise<Page<AgentRequest>> => {
  const page = await table.listed(AskedRequestEntity, askedBy(workspaceId, userId), options)
  const found = (await table.getAll(
    page.items.map(({ request_id: id }) => ({ entity: AgentRequestEntity, key: AgentRequestEntity.key({ id }) })),
  )) as (AgentRequest | undefined)[]
  return { items: found.filter((request): request is AgentRequest => request !== undefined), next: page.next }
}

/** Which of these requests a person has voted for. */
export const votedFor = async (
  { table }: Reading,
  user_id: string,
  requests: readonly AgentRequest[],
): Promise<Set<string>> => {
  const votes = (await table.getAll(
    requests.map(({ id: request_id }) => ({
      entity: RequestVoteEntity,
      key: RequestVoteEntity.key({ request_id, user_id }),
    })),
  )) as ({ request_id: string } | undefined)[]
  return new Set(votes.flatMap((vote) => (vote ? [vote.request_id] : [])))
}

/** Where staff finds the requests of one status or of all, in an order. */
export const requestSources = (status: Status | undefined, sort: RequestSort): ListSource[] =>
  statusesOf(status).map((one) =>
    sort === 'votes' ? { list: requestRank({ status: one, votes: 0, id: '' }).owner } : { directory: requestsBy(one) },
  )
