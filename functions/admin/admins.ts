import { readTotal } from '#shared/foundation/totals/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery, readOffsetPage } from '#shared/http/offset-paging.ts'
import {
  ADMINS,
  AdminEntity,
  AdminSchema,
  CreateAdmin,
  createAdmin,
  deleteAdmin,
  EditAdmin,
  editAdmin,
  presentAdmin,
} from '#shared/staff/admins/index.ts'
import { pageAtOffset } from '#shared/table/lists.ts'

const common = { group: 'admin', caller: 'admin', role: 'superadmin' } as const

const list = defineEndpoint({
  ...common,
  id: 'admin.admins.list',
  method: 'GET',
  path: '/admin/admins',
  summary: 'List admins, newest first',
  query: () => offsetQuery({}),
  list: 'offset',
  response: AdminSchema,
  handler: ({ work, query }) =>
    readOffsetPage(
      query,
      () => readTotal(work, [ADMINS]),
      (at) => pageAtOffset(work.table, AdminEntity, [{ directory: ADMINS }], at),
      presentAdmin,
    ),
})

const create = defineEndpoint({
  ...common,
  id: 'admin.admins.create',
  confirms: true,
  method: 'POST',
  path: '/admin/admins',
  summary: 'Create an admin account',
  description:
    'The admin signs in with this email address and password, and can change the password with `POST ' +
    '/admin/me/password`. The password is never returned. If the email address already has an account, the response ' +
    'is `conflict`.',
  body: CreateAdmin,
  status: 201,
  response: AdminSchema,
  errors: ['conflict'],
  handler: ({ work, caller, body }) => createAdmin(work, caller, body),
})

const edit = defineEndpoint({
  ...common,
  id: 'admin.admins.edit',
  confirms: true,
  method: 'PATCH',
  path: '/admin/admins/{id}',
  params: { id: 'admin' },
  summary: 'Update an admin account',
  description:
    'Fields that you leave out don’t change. A new role, email address or password ends the account’s sessions at ' +
    'their next request. Its admin keys keep working with the account’s current role. You can’t demote the last ' +
    'superadmin (`conflict`).',
  body: EditAdmin,
  response: AdminSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => editAdmin(work, caller, params.id, body),
})

const remove = defineEndpoint({
  ...common,
  id: 'admin.admins.delete',
  confirms: true,
  method: 'DELETE',
  path: '/admin/admins/{id}',
  params: { id: 'admin' },
  summary: 'Delete an admin account',
  description:
    'The account’s sessions and keys stop working at their next request. You can’t delete the last superadmin ' +
    '(`conflict`).',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await deleteAdmin(work, caller, params.id)
    return undefined
  },
})

export const endpoints = [list, create, edit, remove]
