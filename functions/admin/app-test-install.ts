import { TestRunResult } from '#shared/agents/sandbox/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { testInstall as install, TestInstall } from '#shared/moderation/review/index.ts'

const testInstall = defineEndpoint({
  id: 'admin.apps.testInstall',
  group: 'admin',
  method: 'POST',
  path: '/admin/apps/{id}/test-install',
  params: { id: 'app' },
  caller: 'admin',
  role: 'moderator',
  waits: true,
  summary: 'Install an app into a moderation sandbox and test it',
  description:
    'Each app has its own sandbox workspace for moderation, so tests of different apps don’t affect each other. The ' +
    'test is a real run with the same dispatcher, signature, steps and errors as in production. The response is 200 ' +
    'even if the agent fails: check `run.status`. If the agent answers 202, the request waits up to 60 seconds and ' +
    'then returns the run in its current state. The test doesn’t count as the developer’s own test run. Limited to ' +
    'about 6 tests a minute for each moderator.',
  body: TestInstall,
  maxBodyBytes: LIMITS.runPayloadBytes + 64 * 1_024,
  response: TestRunResult,
  errors: ['no_manifest', 'too_many_active_runs', 'budget_exceeded', 'app_suspended', 'installation_suspended'],
  needs: ['objects:read', 'objects:write', 'queue:dispatch'],
  handler: ({ work, caller, params, body }) => install(work, caller, params.id, body),
})

export const endpoints = [testInstall]
