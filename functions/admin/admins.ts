import { ADMINS } from '#shared/domain/admins/count.ts'
import { createAdmin, deleteAdmin, editAdmin } from '#shared/domain/admins/manage.ts'
import { presentAdmin } from '#shared/domain/admins/present.ts'
import { AdminSchema, CreateAdmin, EditAdmin } from '#shared/domain/admins/schemas.ts'
import { totalOf } from '#shared/domain/totals.ts'
import { AdminEntity } from '#shared/entities/platform.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { observed, offsetQuery } from '#shared/http/offset-paging.ts'
import { skipTo } from '#shared/table/lists.ts'

const common = { group: 'admin', caller: 'admin', role: 'superadmin' } as const

const list = defineEndpoint({
  ...common,
  id: 'admin.admins.list',
  method: 'GET',
  path: '/admin/admins',
  summary: 'List the platform’s staff, newest first',
  query: () => offsetQuery({}),
  list: 'offset',
  response: AdminSchema,
  handler: ({ work, query }) =>
    observed(
      query,
      () => totalOf(work, [ADMINS]),
      (at) => skipTo(work.table, AdminEntity, [{ directory: ADMINS }], at),
      presentAdmin,
    ),
})

const create = defineEndpoint({
  ...common,
  id: 'admin.admins.create',
  method: 'POST',
  path: '/admin/admins',
  summary: 'Make an admin account',
  description:
    'They sign in with the e-mail address and the password, which no answer shows, and change it with ' +
    '`POST /admin/me/password`. An address that has an account is `conflict`.',
  body: CreateAdmin,
  status: 201,
  response: AdminSchema,
  errors: ['conflict'],
  handler: ({ work, caller, body }) => createAdmin(work, caller, body),
})

const edit = defineEndpoint({
  ...common,
  id: 'admin.admins.edit',
  method: 'PATCH',
  path: '/admin/admins/{id}',
  params: { id: 'admin' },
  summary: 'Change an admin account',
  description:
    'What is not sent stays. Another role, address or password ends the account’s sessions at their next request; its keys live ' +
    'on, with the role that it has now. The last superadmin stays one (`conflict`).',
  body: EditAdmin,
  response: AdminSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => editAdmin(work, caller, params.id, body),
})

const remove = defineEndpoint({
  ...common,
  id: 'admin.admins.delete',
  method: 'DELETE',
  path: '/admin/admins/{id}',
  params: { id: 'admin' },
  summary: 'Remove an admin account',
  description: 'With its sessions and keys, at their next request. The last superadmin stays (`conflict`).',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await deleteAdmin(work, caller, params.id)
    return undefined
  },
})

export const adminEndpoints = [list, create, edit, remove]
