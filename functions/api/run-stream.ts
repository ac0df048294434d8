import { defineEndpoint } from '#shared/http/endpoint.ts'
import { followRun, runStreamDeclaration } from '#shared/http/run-stream.ts'
import { runNotFound } from '#shared/work/runs/index.ts'

const stream = defineEndpoint({
  ...runStreamDeclaration,
  id: 'api.runs.stream',
  group: 'api',
  path: '/api/v1/runs/{id}/stream',
  caller: 'integration',
  scope: 'runs:read',
  handler: ({ work, caller: { installation, run, viewer }, params: { id }, request }) => {
    // A callback token accesses only its own run.
    if (run && run.id !== id) throw runNotFound()
    return followRun(work, { installation_id: installation.id, id }, request.headers, viewer)
  },
})

export const endpoints = [stream]
