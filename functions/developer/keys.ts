import { defineEndpoint } from '#shared/http/endpoint.ts'
import { wholeList } from '#shared/http/paging.ts'
import {
  CreateKey,
  createKey,
  deleteKey,
  EditKey,
  editKey,
  listKeys,
  NamedKeySchema,
  NewNamedKeySchema,
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
  handler: async ({ work, caller }) => wholeList(await listKeys(work, caller.developerId)),
})

const create = defineEndpoint({
  ...common,
  id: 'developer.keys.create',
  method: 'POST',
  path: '/api/v1/dev/me/keys',
  role: 'owner',
  summary: 'Create a named key',
  description:
    'Works until it expires or is deleted, with the rights of its role. Give each machine its own. The key is shown ' +
    'only once. An account can have up to 20 (`conflict`).',
  body: CreateKey,
  status: 201,
  response: NewNamedKeySchema,
  errors: ['conflict'],
  secret: true,
  handler: ({ work, caller, body }) => createKey(work, caller.developerId, body),
})

const edit = defineEndpoint({
  ...common,
  id: 'developer.keys.edit',
  method: 'PATCH',
  path: '/api/v1/dev/me/keys/{id}',
  params: { id: 'developerKey' },
  role: 'owner',
  summary: 'Change the name or the role of a named key',
  description: 'Takes effect with the key’s next request. An expiry can’t be changed: create another key.',
  body: EditKey,
  response: NamedKeySchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => editKey(work, caller.developerId, params.id, body),
})

const remove = defineEndpoint({
  ...common,
  role: 'owner',
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

export const endpoints = [list, create, edit, remove]
