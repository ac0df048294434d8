import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery, readOffsetPage } from '#shared/http/offset-paging.ts'
import {
  AdminKeySchema,
  CreateAdminKey,
  createAdminKey,
  deleteAdminKey,
  listAdminKeys,
  NewAdminKeySchema,
  presentAdminKey,
  RotateAdminKey,
  rotateAdminKey,
} from '#shared/staff/admins/index.ts'

const common = { group: 'admin', caller: 'admin', role: 'superadmin' } as const

const list = defineEndpoint({
  ...common,
  id: 'admin.keys.list',
  method: 'GET',
  path: '/admin/admins/{id}/keys',
  params: { id: 'admin' },
  summary: 'List an account’s admin keys, newest first',
  description: 'Expired keys aren’t listed. The key itself is shown only once, when it is created.',
  query: () => offsetQuery({}),
  list: 'offset',
  response: AdminKeySchema,
  handler: async ({ work, params, query }) => {
    const keys = await listAdminKeys(work, params.id)
    return readOffsetPage(
      query,
      async () => keys.length,
      async ({ limit, offset }) => keys.slice(offset, offset + limit),
      presentAdminKey,
    )
  },
})

const create = defineEndpoint({
  ...common,
  id: 'admin.keys.create',
  confirms: true,
  method: 'POST',
  path: '/admin/admins/{id}/keys',
  params: { id: 'admin' },
  summary: 'Create an admin key for an account',
  description:
    'Send the key as `X-Admin-Key`. It always has the account’s current role, until it expires or is deleted. Audit ' +
    'entries name the key that was used. The key is stored as a hash and shown only once. An account can have up to ' +
    '20 keys (`conflict`).',
  body: CreateAdminKey,
  status: 201,
  response: NewAdminKeySchema,
  errors: ['conflict'],
  secret: true,
  handler: ({ work, caller, params, body }) => createAdminKey(work, caller, params.id, body),
})

const rotate = defineEndpoint({
  ...common,
  id: 'admin.keys.rotate',
  confirms: true,
  method: 'POST',
  path: '/admin/admins/{id}/keys/{key}/rotate',
  params: { id: 'admin', key: 'adminKey' },
  summary: 'Replace an admin key',
  description:
    'The ID and name don’t change. The old key is refused from its next request. The new key is shown only once.',
  body: RotateAdminKey,
  response: NewAdminKeySchema,
  errors: ['conflict'],
  secret: true,
  handler: ({ work, caller, params, body }) =>
    rotateAdminKey(work, caller, { adminId: params.id, id: params.key, days: body.expires_in_days }),
})

const remove = defineEndpoint({
  ...common,
  id: 'admin.keys.delete',
  method: 'DELETE',
  path: '/admin/admins/{id}/keys/{key}',
  params: { id: 'admin', key: 'adminKey' },
  summary: 'Delete an admin key',
  description: 'The key is refused from its next request.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await deleteAdminKey(work, caller, params.id, params.key)
    return undefined
  },
})

export const endpoints = [list, create, rotate, remove]
