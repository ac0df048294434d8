import type { Deps } from '#shared/foundation/work/index.ts'
import { type ListSource, mergedPage } from '#shared/table/lists.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'
import {
  type AgentRequest,
  AgentRequestEntity,
  AskedRequestEntity,
  askedBy,
  REQUEST_STATUSES,
  RequestVoteEntity,
  requestRank,
  requestsBy,
} from './entity.ts'
import type { RequestSort } from './schemas.ts'

type Reading = Pick<Deps, 'table'>

type Paging = Pick<QueryOptions, 'limit' | 'after'>

type Status = AgentRequest['status']

export const statusesOf = (status: Status | undefined): readonly Status[] =>
  status === undefined ? REQUEST_STATUSES : [status]

/**
 * Lists the board that every workspace sees, for one status or all. Each status has a list of its own in both orders. Their
 * sort values are comparable, so a page of all statuses is merged from a page of each.
 */
export const listBoard = async (
  { table }: Reading,
  { status, sort }: { status: Status | undefined; sort: RequestSort },
  options: Paging,
): Promise<Page<AgentRequest>> => {
  const page = await mergedPage(table, AgentRequestEntity, requestSources(status, sort), options)
  // The index may lag behind a change of status, which then shows a request in two lists.
  const items = page.items.filter(({ id }, i) => page.items.findIndex((other) => other.id === id) === i)
  return { items: status === undefined ? items : items.filter((request) => request.status === status), next: page.next }
}

/** Lists the requests of one person in a workspace, newest first. */
export const listRequestsAskedBy = async (
  { table }: Reading,
  workspaceId: string,
  userId: string,
  options: Paging,
): Promise<Page<AgentRequest>> => {
  const page = await table.listed(AskedRequestEntity, askedBy(workspaceId, userId), options)
  const found = (await table.getAll(page.items.map(({ request_id: id }) => AgentRequestEntity.ref({ id })))) as (
    | AgentRequest
    | undefined
  )[]
  return { items: found.filter((request): request is AgentRequest => request !== undefined), next: page.next }
}

/** Returns the ids of those requests that a person has voted for. */
export const loadVotedRequests = async (
  { table }: Reading,
  user_id: string,
  requests: readonly AgentRequest[],
): Promise<Set<string>> => {
  const votes = (await table.getAll(
    requests.map(({ id: request_id }) => RequestVoteEntity.ref({ request_id, user_id })),
  )) as ({ request_id: string } | undefined)[]
  return new Set(votes.flatMap((vote) => (vote ? [vote.request_id] : [])))
}

/** Returns the lists with the requests of one status or all, in an order, for admins. */
export const requestSources = (status: Status | undefined, sort: RequestSort): ListSource[] =>
  statusesOf(status).map((listed) =>
    sort === 'votes'
      ? { list: requestRank({ status: listed, votes: 0, id: '' }).owner }
      : { directory: requestsBy(listed) },
  )
