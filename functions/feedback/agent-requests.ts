import * as z from 'zod'
import { askForAgent } from '#shared/domain/requests/ask.ts'
import { requestBoard, requestsAskedBy, votedFor } from '#shared/domain/requests/board.ts'
import { NewAgentRequest, presentWish, REQUEST_SORTS, WishedAgentSchema } from '#shared/domain/requests/schemas.ts'
import { takeVoteBack, voteFor } from '#shared/domain/requests/vote.ts'
import { REQUEST_STATUSES } from '#shared/entities/reviews.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = { group: 'console', caller: 'console' } as const

const list = defineEndpoint({
  ...common,
  id: 'console.agentRequests.list',
  method: 'GET',
  path: '/console/agent-requests',
  summary: 'List the agents that customers ask for',
  description:
    'The wishlist of all organizations, the same that developers see: newest first, or with `sort=votes` the most wanted ' +
    'first. `mine=true` lists what you asked for in this workspace, newest first, and takes no other filter. Who asked is ' +
    'shown to nobody but them. While somebody votes, the order by votes may lag behind for a moment.',
  query: () =>
    pageQuery({
      status: z.enum(REQUEST_STATUSES).optional().meta({ description: 'Default: all.' }),
      sort: z.enum(REQUEST_SORTS).default('newest'),
      mine: z.literal('true').optional().meta({ description: 'Only your own.' }),
    }).refine(({ mine, status, sort }) => !mine || (status === undefined && sort === 'newest'), {
      path: ['mine'],
      message: 'cannot be combined with status or sort',
    }),
  list: 'page',
  response: WishedAgentSchema,
  handler: async ({ work, caller: { user, workspace, ...caller }, query }) => {
    const { mine, status, sort } = query
    const voted = new Set<string>()
    return paged(
      work,
      { ...caller, user, workspace },
      ['console.agentRequests.list', mine ?? '', status ?? '', sort],
      query,
      async (options) => {
        const page = mine
          ? await requestsAskedBy(work, workspace.id, user.id, options)
          : await requestBoard(work, { status, sort }, options)
        for (const id of await votedFor(work, user.id, page.items)) voted.add(id)
        return page
      },
      (request) => presentWish(request, user.id, voted.has(request.id)),
    )
  },
})

const ask = defineEndpoint({
  ...common,
  id: 'console.agentRequests.create',
  method: 'POST',
  path: '/console/agent-requests',
  summary: 'Ask for an agent that does not exist yet',
  description:
    'Every organization and developer can read it, without learning who asked. Any member may ask. It begins without votes; ' +
    'you may vote for it yourself. The workspace is notified when a developer claims it and when its status changes.',
  body: NewAgentRequest,
  status: 201,
  response: WishedAgentSchema,
  handler: ({ work, caller, body }) =>
    askForAgent(work, { workspaceId: caller.workspace.id, userId: caller.user.id }, body),
})

const vote = defineEndpoint({
  ...common,
  id: 'console.agentRequests.vote',
  method: 'POST',
  path: '/console/agent-requests/{id}/vote',
  params: { id: 'agentRequest' },
  summary: 'Vote for an agent that somebody asked for',
  description:
    'One vote each per person, in whichever workspace they are; voting again changes nothing. A request that is fulfilled or ' +
    'declined takes no more votes (`conflict`).',
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
  summary: 'Take a vote back',
  description: 'Where there is none, nothing happens.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await takeVoteBack(work, caller.user.id, params.id)
    return undefined
  },
})

export const agentRequestEndpoints = [list, ask, vote, unvote]
