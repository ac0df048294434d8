import { listExchanges, RunExchangeSchema } from '#shared/agents/exchanges/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { wholeList } from '#shared/http/paging.ts'

const exchanges = defineEndpoint({
  id: 'developer.apps.runs.exchanges',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}/runs/{run}/exchanges',
  params: { id: 'app', run: 'run' },
  caller: 'developer',
  summary: 'List what a run in your sandbox exchanged with its agent',
  description:
    'The request `run.execute` with its headers, and the agent’s response, once for each attempt and resumption, oldest ' +
    'first. Kept only for runs in your own sandbox, never for customers’ runs (`not_found`). The callback token and the ' +
    'values of settings are replaced, so the body shown isn’t the one that was signed.',
  list: 'page',
  response: RunExchangeSchema,
  handler: async ({ work, caller, params }) =>
    wholeList(await listExchanges(work, caller.developerId, params.id, params.run)),
})

export const endpoints = [exchanges]
