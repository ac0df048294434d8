import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import {
  createAgentRequest,
  listBoard,
  listRequestsAskedBy,
  loadVotedRequests,
  NewAgentRequest,
  presentWish,
  REQUEST_SORTS,
  REQUEST_STATUSES,
  voteFor,
  WishedAgentSchema,
  withdrawVote,
} from '#shared/marketplace/requests/index.ts'

const common = { group: 'console', caller: 'console' } as const

const list = defineEndpoint({
  ...common,
  id: 'console.agentRequests.list',
  method: 'GET',
  path: '/console/agent-requests',
  summary: 'List requested agents',
  description:
    'Contains the requests of all workspaces, which developers see as well. Sorted newest first, or most wanted ' +
    'first with `sort=votes`. `mine=true` lists your own requests in this workspace, newest first, and can’t be ' +
    'combined with other filters. Nobody else can see that a request is yours. The order by votes can lag briefly ' +
    'while people vote.',
  query: () =>
    pageQuery({
      status: z.enum(REQUEST_STATUSES).optional().meta({ description: 'Default: all.' }),
      sort: z.enum(REQUEST_SORTS).default('newest'),
      mine: z.literal('true').optional().meta({ description: 'Only your own requests.' }),
    }).refine(({ mine, status, sort }) => !mine || (status === undefined && sort === 'newest'), {
      path: ['mine'],
      message: 'cannot be combined with status or sort',
    }),
  list: {
    read: async ({ work, caller: { user, workspace }, query: { mine, status, sort } }, at) => {
      const page = mine
        ? await listRequestsAskedBy(work, workspace.id, user.id, at)
        : await listBoard(work, { status, sort }, at)
      const voted = new Set(await loadVotedRequests(work, user.id, page.items))
      return { ...page, items: page.items.map((request) => ({ request, voted: voted.has(request.id) })) }
    },
    present: ({ request, voted }, { caller }) => presentWish(request, caller.user.id, voted),
  },
  response: WishedAgentSchema,
})

const ask = defineEndpoint({
  ...common,
  id: 'console.agentRequests.create',
  method: 'POST',
  path: '/console/agent-requests',
  summary: 'Request an agent that doesn’t exist yet',
  description:
    'Every workspace and developer can read the request, but not who made it. Every member can make requests. It ' +
    'starts without votes, and you can vote for it yourself. The workspace is notified when a developer claims the ' +
    'request and when its status changes.',
  body: NewAgentRequest,
  status: 201,
  response: WishedAgentSchema,
  handler: ({ work, caller, body }) =>
    createAgentRequest(work, { workspaceId: caller.workspace.id, userId: caller.user.id }, body),
})

const vote = defineEndpoint({
  ...common,
  id: 'console.agentRequests.vote',
  method: 'POST',
  path: '/console/agent-requests/{id}/vote',
  params: { id: 'agentRequest' },
  summary: 'Vote for a requested agent',
  description:
    'Each person has one vote, across all of their workspaces. Voting again has no effect. Fulfilled and declined ' +
    'requests don’t accept votes (`conflict`).',
  response: WishedAgentSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => voteFor(work, caller.user.id, params.id),
})

const unvote = defineEndpoint({
  ...common,
  id: 'console.agentRequests.unvote',
  method: 'DELETE',
  path: '/console/agent-requests/{id}/vote',
  params: { id: 'agentRequest' },
  summary: 'Withdraw a vote',
  description: 'Does nothing if you haven’t voted.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await withdrawVote(work, caller.user.id, params.id)
    return undefined
  },
})

export const endpoints = [list, ask, vote, unvote]
