import * as z from 'zod'
import {
  GrantSchema,
  listGrants,
  pauseGrant,
  presentGrant,
  resumeGrant,
  revokeGrant,
} from '#shared/access/grants/index.ts'
import { disconnectHost, HostGrantSchema, listHostGrants, presentHostGrant } from '#shared/access/hosts/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import type { Page } from '#shared/table/table.ts'

type Listed = ReturnType<typeof presentGrant> | ReturnType<typeof presentHostGrant>

const list = defineEndpoint({
  id: 'console.grants.list',
  group: 'console',
  method: 'GET',
  path: '/console/grants',
  caller: 'console',
  summary: 'List what apps or assistants were granted, newest first',
  description:
    'Lists active grants only, so a page can have fewer items than its limit. With `kind=host`, lists the assistants that you ' +
    'connected, and for an admin with `all=true` those of everybody.',
  query: () =>
    pageQuery({
      kind: z.enum(['app', 'host']).default('app').meta({ description: 'Kind of the grantee.' }),
      all: z
        .enum(['true', 'false'])
        .default('false')
        .transform((text) => text === 'true')
        .meta({ description: 'For admins: also the assistants of others.' }),
    }),
  list: {
    read: async ({ work, caller, query }, page): Promise<Page<Listed>> => {
      if (query.kind === 'app') {
        const { items, next } = await listGrants(work, caller.workspace.id, page)
        return { items: items.map(({ grant, installation, app }) => presentGrant(grant, installation, app)), next }
      }
      const { items, next } = await listHostGrants(work, caller.member, query.all, page)
      return { items: items.map(presentHostGrant), next }
    },
    present: (grant) => grant,
  },
  response: () => z.union([GrantSchema(), HostGrantSchema()]),
  errors: ['admin_required'],
})

const revoke = defineEndpoint({
  id: 'console.grants.revoke',
  group: 'console',
  method: 'DELETE',
  path: '/console/grants/{id}',
  params: { id: 'grant' },
  caller: 'console',
  summary: 'Revoke a grant',
  description:
    'The grant’s access and refresh tokens are refused from their next request. Available to admins and to the ' +
    'person who approved the grant. An app stays installed, but can’t use this grant.',
  status: 204,
  errors: ['admin_required'],
  handler: async ({ work, caller, params }) => {
    if (!(await disconnectHost(work, caller.member, params.id))) await revokeGrant(work, caller.member, params.id)
    return undefined
  },
})

const pause = defineEndpoint({
  id: 'console.grants.pause',
  group: 'console',
  method: 'POST',
  path: '/console/grants/{id}/pause',
  params: { id: 'grant' },
  caller: 'console',
  role: 'admin',
  summary: 'Pause an app’s grant',
  description:
    'The grant’s access and refresh tokens are refused with `installation_suspended` from their next request until an admin ' +
    'resumes it. Runs that people start continue, because their tokens belong to the run. For grants of apps only.',
  response: GrantSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => pauseGrant(work, caller.member, params.id),
})

const resume = defineEndpoint({
  id: 'console.grants.resume',
  group: 'console',
  method: 'POST',
  path: '/console/grants/{id}/resume',
  params: { id: 'grant' },
  caller: 'console',
  role: 'admin',
  summary: 'Resume a paused grant',
  description: 'Its tokens work again, as far as they haven’t expired.',
  response: GrantSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => resumeGrant(work, caller.member, params.id),
})

export const endpoints = [list, revoke, pause, resume]
