import { SandboxToken } from '#shared/domain/sandbox/schemas.ts'
import { issueSandboxToken } from '#shared/domain/sandbox/token.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const token = defineEndpoint({
  id: 'developer.apps.sandboxToken',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/sandbox-token',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Get an access token for the app’s sandbox installation',
  description:
    'An ordinary access token for the developer’s own sandbox workspace; it cannot reach a customer’s. Each call gives ' +
    'a new one, the installation stays.',
  response: SandboxToken,
  errors: ['no_manifest', 'app_suspended', 'installation_suspended'],
  secret: true,
  needs: ['keys:tokens', 'keys:data'],
  handler: ({ work, caller, params }) => issueSandboxToken(work, caller.developerId, params.id),
})

export const sandboxEndpoints = [token]
