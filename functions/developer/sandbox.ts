import { renewInvite } from '#shared/domain/developers/renew-invite.ts'
import { SandboxInviteSchema } from '#shared/domain/developers/schemas.ts'
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

const invite = defineEndpoint({
  id: 'developer.sandbox.invite',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/sandbox/invite',
  caller: 'developer',
  summary: 'Get a new link into the sandbox workspace',
  description:
    'A start parameter (`join_…`) of the platform’s bot, which makes one person an owner of the sandbox workspace. The ' +
    'link of before is dead from then on. It is shown this once.',
  response: SandboxInviteSchema,
  errors: ['conflict'],
  secret: true,
  handler: ({ work, caller }) => renewInvite(work, caller.developerId),
})

export const sandboxEndpoints = [token, invite]
