import { TestRun, TestRunResult } from '#shared/domain/sandbox/schemas.ts'
import { testRun as runTest } from '#shared/domain/sandbox/test-run.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

export const testRun = defineEndpoint({
  id: 'developer.apps.testRun',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/test-run',
  params: { id: 'app' },
  caller: 'developer',
  waits: true,
  summary: 'Test the agent now',
  description:
    'Installs the newest manifest into the developer’s sandbox workspace and performs one real run: the same ' +
    'dispatcher, signature, steps and errors as in production. Answers 200 also when the agent failed: see ' +
    '`run.status`. After the agent’s 202 it waits 60 seconds, then answers with the run as it is. About 6 a minute.',
  body: TestRun,
  maxBodyBytes: LIMITS.runPayloadBytes + 64 * 1_024,
  response: TestRunResult,
  errors: ['no_manifest', 'too_many_active_runs', 'app_suspended', 'installation_suspended'],
  needs: ['objects:read', 'objects:write'],
  handler: ({ work, caller, params, body }) => runTest(work, caller.developerId, params.id, body.input),
})
