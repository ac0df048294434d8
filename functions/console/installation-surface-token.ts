import { isSurfaceTokenValid, issueSurfaceToken, SurfaceTokenSchema } from '#shared/access/installations/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const issueForSurface = defineEndpoint({
  id: 'console.installations.surfaceToken',
  group: 'console',
  method: 'POST',
  path: '/console/installations/{id}/surface-token',
  params: { id: 'installation' },
  caller: 'console',
  summary: 'Get a token for an agent’s page in an iframe',
  description:
    'The token can read `GET /api/v1/*` within the installation’s granted read scopes, for 5 minutes. Writing with ' +
    'it gets `disposable_token_readonly`. It sees what its person sees. Anything that only another person can see is ' +
    'left out of lists and is otherwise 404: their conversations with agents with the related runs and events, their ' +
    'notifications, and the threads of messenger accounts that they don’t share. The token ends immediately when the ' +
    'installation is removed or suspended, the client secret is rotated, or the person leaves the workspace.',
  response: SurfaceTokenSchema,
  errors: ['forbidden', 'app_suspended', 'installation_suspended', 'access_withdrawn'],
  secret: true,
  needs: ['keys:console', 'objects:read'],
  replays: (work, caller, _body, _params, kept) => isSurfaceTokenValid(work, caller.workspace, caller.member, kept),
  handler: ({ work, caller, params }) => issueSurfaceToken(work, caller.workspace, caller.member, params.id),
})

export const endpoints = [issueForSurface]
