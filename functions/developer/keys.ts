import { defineEndpoint } from '#shared/http/endpoint.ts'
import { wholeList } from '#shared/http/paging.ts'
import {
  CreateKey,
  createKey,
  deleteKey,
  listKeys,
  NamedKeySchema,
  NewNamedKeySchema,
  presentKey,
} from '#shared/identity/developer-accounts/index.ts'

const common = { group: 'developer', caller: 'developer' } as const

const list = defineEndpoint({
  ...common,
  id: 'developer.keys.list',
  method: 'GET',
  path: '/api/v1/dev/me/keys',
  summary: 'List your named keys, newest first',
  description: 'Expired keys and the account’s main key aren’t listed. A key itself is shown only once.',
  list: 'page',
  response: NamedKeySchema,
  handler: async ({ work, caller }) => wholeList((await listKeys(work, caller.developerId)).map(presentKey)),
})

const create = defineEndpoint({
  ...common,
  id: 'developer.keys.create',
  method: 'POST',
  path: '/api/v1/dev/me/keys',
  summary: 'Create a named key',
  description:
    'Works like the account’s main key, until it expires or is deleted. Give each machine its own. The key is shown ' +
    'only once. An account can have up to 20 (`conflict`).',
  body: CreateKey,
  status: 201,
  response: NewNamedKeySchema,
  errors: ['conflict'],
  secret: true,
  handler: ({ work, caller, body }) => createKey(work, caller.developerId, body),
})

const remove = defineEndpoint({
  ...common,
  id: 'developer.keys.delete',
  method: 'DELETE',
  path: '/api/v1/dev/me/keys/{id}',
  params: { id: 'developerKey' },
  summary: 'Delete a named key',
  description: 'The key is refused from its next request.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await deleteKey(work, caller.developerId, params.id)
    return undefined
  },
})

export const endpoints = [list, create, remove]
