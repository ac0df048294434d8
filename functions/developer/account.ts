import { readProfile } from '#shared/domain/developers/read.ts'
import { registerDeveloper } from '#shared/domain/developers/register.ts'
import { ProfileSchema, RegisterDeveloper, RegisteredSchema } from '#shared/domain/developers/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const register = defineEndpoint({
  id: 'developer.account.register',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/register',
  caller: 'none',
  summary: 'Create a developer account',
  description:
    'Answers with the developer key and with a sandbox workspace of the account’s own. Both the key and the invite ' +
    'link are shown this once. An e-mail address that is taken is `conflict`.',
  body: RegisterDeveloper,
  status: 201,
  response: RegisteredSchema,
  errors: ['conflict'],
  secret: true,
  needs: ['table:read', 'table:write', 'keys:data'],
  handler: ({ work, body }) => registerDeveloper(work, body),
})

const me = defineEndpoint({
  id: 'developer.account.read',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/me',
  caller: 'developer',
  summary: 'Read the developer’s profile',
  response: ProfileSchema,
  handler: ({ work, caller }) => readProfile(work, caller.developerId),
})

export const accountEndpoints = [register, me]
