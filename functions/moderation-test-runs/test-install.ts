import { TestInstall } from '#shared/domain/moderation/schemas.ts'
import { testInstall as install } from '#shared/domain/moderation/test-install.ts'
import { TestRunResult } from '#shared/domain/sandbox/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

export const testInstall = defineEndpoint({
  id: 'admin.apps.testInstall',
  group: 'admin',
  method: 'POST',
  path: '/admin/apps/{id}/test-install',
  params: { id: 'app' },
  caller: 'admin',
  role: 'moderator',
  waits: true,
  summary: 'Install an app into a sandbox of moderation and test it',
  description:
    'Each app has a sandbox workspace of its own there, so that none sees what another left. One real run: the same dispatcher, ' +
    'signature, steps and errors as in production. Answers 200 also when the agent failed: see `run.status`. After the agent’s ' +
    '202 it waits 60 seconds, then answers with the run as it is. It does not count as the developer’s own test run. About 6 a ' +
    'minute for each moderator.',
  body: TestInstall,
  maxBodyBytes: LIMITS.runPayloadBytes + 64 * 1_024,
  response: TestRunResult,
  errors: ['no_manifest', 'too_many_active_runs', 'app_suspended', 'installation_suspended'],
  needs: ['objects:read', 'objects:write'],
  handler: ({ work, caller, params, body }) => install(work, caller, params.id, body),
})
