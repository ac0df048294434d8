import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import {
  BlockDeveloper,
  blockDeveloper,
  ModeratedDeveloperSchema,
  presentModeratedDeveloper,
  unblockDeveloper,
  verifyDeveloper,
} from '#shared/moderation/developers/index.ts'
import { DEVELOPER_STATUSES, developersBy, findInRoster } from '#shared/staff/roster/index.ts'
import { booleanFilter, prefixFilter } from './support/filters.ts'

const list = defineEndpoint({
  id: 'admin.developers.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/developers',
  caller: 'admin',
  role: 'moderator',
  summary: 'List developers, newest first',
  query: () =>
    offsetQuery({
      status: z.enum(DEVELOPER_STATUSES).optional().meta({ description: 'Default: all.' }),
      verified: booleanFilter('Only developers with the verified badge, or only those without it. Default: all.'),
      q: prefixFilter('email address, name or company'),
    }),
  list: 'offset',
  response: ModeratedDeveloperSchema,
  handler: async ({ work, query: { status, verified, q, limit, offset } }) => {
    const lists = (status === undefined ? DEVELOPER_STATUSES : [status]).flatMap((state) =>
      (verified === undefined ? [true, false] : [verified]).map((badge) => developersBy(state, badge)),
    )
    const found = await findInRoster(work, DeveloperEntity, { kind: 'developer', lists, q, limit, offset })
    return { items: found.items.map(presentModeratedDeveloper), total: found.total, limit, offset }
  },
})

const action = {
  group: 'admin',
  method: 'POST',
  params: { id: 'developer' },
  caller: 'admin',
  role: 'superadmin',
  response: ModeratedDeveloperSchema,
  errors: ['conflict'],
} as const

const verify = defineEndpoint({
  ...action,
  id: 'admin.developers.verify',
  path: '/admin/developers/{id}/verify',
  summary: 'Give a developer the verified badge',
  description: 'The developer’s apps show the badge as well. Does nothing if the developer already has it.',
  handler: ({ work, caller, params }) => verifyDeveloper(work, caller, params.id),
})

const read = defineEndpoint({
  id: 'admin.developers.read',
  group: 'admin',
  method: 'GET',
  path: '/admin/developers/{id}',
  params: { id: 'developer' },
  caller: 'admin',
  role: 'moderator',
  summary: 'Get a developer',
  response: ModeratedDeveloperSchema,
  handler: async ({ work, params }) => {
    const developer = await work.table.get(DeveloperEntity, { id: params.id })
    if (!developer) throw fail('not_found', { message: 'Developer not found.' })
    return presentModeratedDeveloper(developer)
  },
})

const block = defineEndpoint({
  ...action,
  id: 'admin.developers.block',
  confirms: true,
  path: '/admin/developers/{id}/block',
  summary: 'Block a developer',
  description:
    'The developer’s key is refused with `not_a_developer` from its next request. Nobody can install their apps or ' +
    'consent to them any more, and the marketplace doesn’t show them. Existing installations keep working, unless you ' +
    'send `installations: "suspend"`, which suspends all of the developer’s apps in the same call.',
  body: BlockDeveloper,
  handler: ({ work, caller, params, body }) => blockDeveloper(work, caller, params.id, body),
})

const unblock = defineEndpoint({
  ...action,
  id: 'admin.developers.unblock',
  path: '/admin/developers/{id}/unblock',
  summary: 'Unblock a developer',
  description:
    'The developer’s current key works again, and their apps can be installed. Apps that were suspended stay suspended.',
  handler: ({ work, caller, params }) => unblockDeveloper(work, caller, params.id),
})

export const endpoints = [list, read, verify, block, unblock]
