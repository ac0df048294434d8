import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'
import {
  AppDossierSchema,
  appFilters,
  Curate,
  CuratedAppSchema,
  curateApp,
  delistApp,
  listAllApps,
  loadDossier,
  ModeratedAppSchema,
  Reason,
} from '#shared/moderation/review/index.ts'

const common = { group: 'admin', caller: 'admin', role: 'moderator' } as const

const list = defineEndpoint({
  ...common,
  id: 'admin.apps.list',
  method: 'GET',
  path: '/admin/apps',
  summary: 'List all apps, newest first',
  description: 'With `q`, apps are sorted by slug instead.',
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
  summary: 'Get an app with everything a moderator needs to decide',
  response: AppDossierSchema,
  needs: ['objects:read'],
  handler: ({ work, params }) => loadDossier(work, params.id),
})

const delist = defineEndpoint({
  ...common,
  id: 'admin.apps.delist',
  method: 'POST',
  path: '/admin/apps/{id}/delist',
  params: { id: 'app' },
  summary: 'Remove an app from the marketplace',
  description:
    'The app disappears from the marketplace immediately and can’t be installed anymore. Existing installations keep ' +
    'working, and their users can consent again. Only an approved app can be delisted. `POST ' +
    '/admin/apps/{id}/approve` lists it again, without its featured mark. The developer sees the reason.',
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
  summary: 'Feature a listed app or change its category',
  description:
    'Featured apps come first when the marketplace is sorted in its default order. If the marketplace doesn’t list ' +
    'the app, the response is `conflict`.',
  body: Curate,
  response: CuratedAppSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => curateApp(work, caller, params.id, body),
})

export const endpoints = [list, read, delist, curation]
