import { listAllApps } from '#shared/domain/moderation/apps.ts'
import { curateApp } from '#shared/domain/moderation/curate.ts'
import { delistApp } from '#shared/domain/moderation/decide.ts'
import { readDossier } from '#shared/domain/moderation/dossier.ts'
import {
  AppDossierSchema,
  appFilters,
  Curate,
  CuratedAppSchema,
  ModeratedAppSchema,
  Reason,
} from '#shared/domain/moderation/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'

const common = { group: 'admin', caller: 'admin', role: 'moderator' } as const

const list = defineEndpoint({
  ...common,
  id: 'admin.apps.list',
  method: 'GET',
  path: '/admin/apps',
  summary: 'List all apps, newest first',
  description: 'With `q` in the order of their slugs.',
  query: () => offsetQuery(appFilters()),
  list: 'offset',
  response: ModeratedAppSchema,
  handler: async ({ work, query }) => ({
    ...(await listAllApps(work, query)),
    limit: query.limit,
    offset: query.offset,
  }),
})

const read = defineEndpoint({
  ...common,
  id: 'admin.apps.read',
  method: 'GET',
  path: '/admin/apps/{id}',
  params: { id: 'app' },
  summary: 'Read an app with all that a moderator needs to decide',
  response: AppDossierSchema,
  needs: ['objects:read'],
  handler: ({ work, params }) => readDossier(work, params.id),
})

const delist = defineEndpoint({
  ...common,
  id: 'admin.apps.delist',
  method: 'POST',
  path: '/admin/apps/{id}/delist',
  params: { id: 'app' },
  summary: 'Take an app out of the marketplace',
  description:
    'It is gone from the marketplace at once, and nobody installs it any more; existing installations go on, and ' +
    'their people may consent anew. Only an approved app can be delisted. `POST …/approve` lists it again, without a mark as ' +
    'featured. The developer is told the reason.',
  body: Reason,
  response: ModeratedAppSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => delistApp(work, caller, params.id, body.reason),
})

const curation = defineEndpoint({
  ...common,
  id: 'admin.apps.curate',
  method: 'POST',
  path: '/admin/apps/{id}/curation',
  params: { id: 'app' },
  summary: 'Feature a listed app, or put it into another category',
  description:
    'A featured app comes first where the marketplace is browsed in its default order. An app that the marketplace does not show ' +
    'is `conflict`.',
  body: Curate,
  response: CuratedAppSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => curateApp(work, caller, params.id, body),
})

export const appEndpoints = [list, read, delist, curation]
