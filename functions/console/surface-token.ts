import {
  issueSurfaceToken,
  SurfaceTokenSchema,
  surfaceTokenStillWorks,
} from '#shared/domain/installations/surface-token.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

export const issueForSurface = defineEndpoint({
  id: 'console.installations.surfaceToken',
  group: 'console',
  method: 'POST',
  path: '/console/installations/{id}/surface-token',
  params: { id: 'installation' },
  caller: 'console',
  summary: 'Get a token for the agent’s page in an iframe',
  description:
    'It reads `GET /api/v1/*` within the read scopes that the installation was granted, for 5 minutes; writing with it is ' +
    '`disposable_token_readonly`. It is its person’s view: what the console shows to another person alone (their chats with ' +
    'agents, the runs and events of those, notifications to them, the chats of a messenger account that they do not share) is ' +
    'left out of lists, and else 404. It ends at once with the installation, a suspension, a rotated client secret and the ' +
    'membership of the person who asked for it.',
  response: SurfaceTokenSchema,
  errors: ['app_suspended', 'installation_suspended'],
  secret: true,
  needs: ['keys:tokens', 'objects:read'],
  replays: (work, caller, _body, _params, kept) => surfaceTokenStillWorks(work, caller.workspace, kept),
  handler: ({ work, caller, params }) => issueSurfaceToken(work, caller.workspace, caller.user.id, params.id),
})
