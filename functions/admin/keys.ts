import { createAdminKey, deleteAdminKey, listAdminKeys, rotateAdminKey } from '#shared/domain/admins/keys.ts'
import { presentAdminKey } from '#shared/domain/admins/present.ts'
import { AdminKeySchema, CreateAdminKey, NewAdminKeySchema, RotateAdminKey } from '#shared/domain/admins/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { observed, offsetQuery } from '#shared/http/offset-paging.ts'

const common = { group: 'admin', caller: 'admin', role: 'superadmin' } as const

const list = defineEndpoint({
  ...common,
  id: 'admin.keys.list',
  method: 'GET',
  path: '/admin/admins/{id}/keys',
  params: { id: 'admin' },
  summary: 'List an account’s admin keys, newest first',
  description: 'Those that have not expired. A key itself is shown once, when it is made.',
  query: () => offsetQuery({}),
  list: 'offset',
  response: AdminKeySchema,
  handler: async ({ work, params, query }) => {
    const keys = await listAdminKeys(work, params.id)
    return observed(
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
  method: 'POST',
  path: '/admin/admins/{id}/keys',
  params: { id: 'admin' },
  summary: 'Make an admin key for an account',
  description:
    'Sent as `X-Admin-Key`. It has the account’s role, whatever that is at the time, until it expires or is removed; the audit names ' +
    'it. It is kept as a hash and shown once. An account has at most 20 (`conflict`).',
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
  method: 'POST',
  path: '/admin/admins/{id}/keys/{key}/rotate',
  params: { id: 'admin', key: 'adminKey' },
  summary: 'Replace an admin key',
  description: 'Id and name stay; the old key is refused from the next request on. The new one is shown once.',
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
  summary: 'Remove an admin key',
  description: 'It is refused from the next request on.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await deleteAdminKey(work, caller, params.id, params.key)
    return undefined
  },
})

export const keyEndpoints = [list, create, rotate, remove]
