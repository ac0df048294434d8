import * as z from 'zod'
import {
  blockDeveloper,
  ModeratedDeveloperSchema,
  presentModeratedDeveloper,
  unblockDeveloper,
  verifyDeveloper,
} from '#shared/domain/developers/moderate.ts'
import { Reason } from '#shared/domain/moderation/schemas.ts'
import { findInRoster } from '#shared/domain/roster/find.ts'
import { DEVELOPER_STATUSES, developersBy } from '#shared/domain/roster/places.ts'
import { DeveloperEntity } from '#shared/entities/developers.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'
import { startsWith, trueOrFalse } from './filters.ts'

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
      verified: trueOrFalse('Only those with the badge, or without. Default: all.'),
      q: startsWith('e-mail address, name or company'),
    }),
  list: 'offset',
  response: ModeratedDeveloperSchema,
  handler: async ({ work, query: { status, verified, q, limit, offset } }) => {
    const lists = (status === undefined ? DEVELOPER_STATUSES : [status]).flatMap((one) =>
      (verified === undefined ? [true, false] : [verified]).map((badge) => developersBy(one, badge)),
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
  description: 'Their apps show it, too. For one who has it, nothing changes.',
  handler: ({ work, caller, params }) => verifyDeveloper(work, caller, params.id),
})

const block = defineEndpoint({
  ...action,
  id: 'admin.developers.block',
  path: '/admin/developers/{id}/block',
  summary: 'Block a developer',
  description:
    'Their key is refused with `not_a_developer` from the next request on. Their apps and the customers’ installations go on: to ' +
    'stop those, too, suspend them (`POST /admin/apps/{id}/suspend`).',
  body: Reason,
  handler: ({ work, caller, params, body }) => blockDeveloper(work, caller, params.id, body.reason),
})

const unblock = defineEndpoint({
  ...action,
  id: 'admin.developers.unblock',
  path: '/admin/developers/{id}/unblock',
  summary: 'Unblock a developer',
  description: 'The key that they have works again.',
  handler: ({ work, caller, params }) => unblockDeveloper(work, caller, params.id),
})

export const developerEndpoints = [list, verify, block, unblock]
