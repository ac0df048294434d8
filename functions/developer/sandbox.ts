import { issueSandboxToken, SandboxToken } from '#shared/agents/sandbox/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  OpenSandbox,
  openSandbox,
  renewInvite,
  SandboxInviteSchema,
} from '#shared/identity/developer-accounts/index.ts'
import { ConsoleSessionSchema, isSessionLive } from '#shared/identity/people/index.ts'

const token = defineEndpoint({
  id: 'developer.apps.sandboxToken',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/sandbox-token',
  params: { id: 'app' },
  caller: 'developer',
  // A viewer's token only reads.
  role: 'viewer',
  summary: 'Get an access token for the app’s sandbox installation',
  description:
    'Returns an ordinary access token for your own sandbox workspace. It can’t reach customers’ workspaces. Each ' +
    'call returns a new token for the same installation. It ends with the key or session that asked for it.',
  response: SandboxToken,
  errors: ['no_manifest', 'app_suspended', 'installation_suspended'],
  secret: true,
  needs: ['keys:access', 'keys:data'],
  handler: ({ work, caller, params }) =>
    issueSandboxToken(work, params.id, { ...caller.credential, role: caller.role, isSession: caller.isSession }),
})

const invite = defineEndpoint({
  id: 'developer.sandbox.invite',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/sandbox/invite',
  caller: 'developer',
  summary: 'Get a new invite link to the sandbox workspace',
  description:
    'Returns a start parameter (`join_…`) for the platform’s bot that makes one person an owner of the sandbox ' +
    'workspace. The previous link stops working. The parameter is shown only once.',
  response: SandboxInviteSchema,
  errors: ['conflict'],
  secret: true,
  handler: ({ work, caller }) => renewInvite(work, caller.root),
})

const session = defineEndpoint({
  id: 'developer.sandbox.session',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/sandbox/session',
  caller: 'developer',
  summary: 'Open the sandbox workspace in the console',
  description:
    'Signs in to the console of your own sandbox workspace: as its owner, or as a customer who is made up, to see and ' +
    'approve what your agents ask for. The session lasts 12 hours at most, ends with the key or session that opened it, and ' +
    'reaches no other workspace.',
  body: OpenSandbox,
  status: 201,
  response: ConsoleSessionSchema,
  errors: ['not_found', 'forbidden', 'conflict'],
  secret: true,
  needs: ['keys:console', 'keys:public'],
  replays: (work, _caller, _body, _params, kept) => isSessionLive(work, kept),
  handler: ({ work, caller, body }) => openSandbox(work, caller.credential, body),
})

export const endpoints = [token, invite, session]
