import { defineEndpoint } from '#shared/http/endpoint.ts'
import { readViews, SavedViewsSchema, SetViews, setViews } from '#shared/work/desk/index.ts'

const common = { group: 'console', path: '/console/views', caller: 'console' } as const

const read = defineEndpoint({
  ...common,
  id: 'console.views.read',
  method: 'GET',
  summary: 'List your saved views of this workspace’s lists',
  response: SavedViewsSchema,
  handler: ({ work, caller }) => readViews(work, { workspace_id: caller.workspace.id, user_id: caller.user.id }),
})

const set = defineEndpoint({
  ...common,
  id: 'console.views.set',
  method: 'PUT',
  summary: 'Replace your saved views',
  description: 'A view is a set of filters with a name. Only you see your views. At most 50 in a workspace.',
  body: SetViews,
  response: SavedViewsSchema,
  handler: ({ work, caller, body }) =>
    setViews(work, { workspace_id: caller.workspace.id, user_id: caller.user.id }, body),
})

export const endpoints = [read, set]
