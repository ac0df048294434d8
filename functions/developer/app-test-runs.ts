import { NEEDS_IN_PLACE, newRunInPlace } from '#shared/agents/dispatch/index.ts'
import { testRun as runTest, TestRun, TestRunResult } from '#shared/agents/sandbox/index.ts'
import { handOver } from '#shared/delivery/fan-out/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

const testRun = defineEndpoint({
  id: 'developer.apps.testRun',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/test-run',
  params: { id: 'app' },
  caller: 'developer',
  waits: true,
  summary: 'Test the agent now',
  description:
    'Installs the newest manifest into your sandbox workspace and performs one real run, with the same dispatcher, ' +
    'signature, steps and errors as in production. The response is 200 even if the agent fails: check `run.status`. ' +
    'If the agent answers 202, the request waits up to 60 seconds and then returns the run in its current state. ' +
    'Limited to about 6 test runs a minute.',
  body: TestRun,
  maxBodyBytes: LIMITS.runPayloadBytes + 64 * 1_024,
  response: TestRunResult,
  errors: ['no_manifest', 'too_many_active_runs', 'budget_exceeded', 'app_suspended', 'installation_suspended'],
  needs: NEEDS_IN_PLACE,
  handler: ({ work, caller, params, body }) =>
    handOver(work, (handing) => runTest(handing, caller.developerId, params.id, body.input, newRunInPlace)),
})

export const endpoints = [testRun]
