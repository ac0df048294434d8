import { defineEndpoint } from '#shared/http/endpoint.ts'
import { followRun, runStreamDeclaration } from '#shared/http/run-stream.ts'
import { findRunKey } from '#shared/work/runs/index.ts'

const stream = defineEndpoint({
  ...runStreamDeclaration,
  id: 'console.runs.stream',
  group: 'console',
  path: '/console/runs/{id}/stream',
  caller: 'console',
  handler: async ({ work, caller, params: { id }, request }) =>
    followRun(work, await findRunKey(work, caller.workspace.id, id, caller.user.id), request.headers),
})

export const endpoints = [stream]
