import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'
import { WorkspaceEntity } from '#shared/identity/people/index.ts'
import {
  ModeratedWorkspaceSchema,
  presentModeratedWorkspace,
  SetStatus,
  setWorkspaceStatus,
} from '#shared/moderation/suspension/index.ts'
import { findInRoster, WORKSPACE_STATUSES, workspacesBy } from '#shared/staff/roster/index.ts'
import { booleanFilter, prefixFilter } from './support/filters.ts'

const list = defineEndpoint({
  id: 'admin.workspaces.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/workspaces',
  caller: 'admin',
  role: 'moderator',
  summary: 'List workspaces, newest first',
  query: () =>
    offsetQuery({
      status: z.enum(WORKSPACE_STATUSES).optional().meta({ description: 'Default: all.' }),
      sandbox: booleanFilter('Only developers’ sandboxes, or only customers’ workspaces. Default: all.'),
      q: prefixFilter('name'),
    }),
  list: 'offset',
  response: ModeratedWorkspaceSchema,
  handler: async ({ work, query: { status, sandbox, q, limit, offset } }) => {
    const lists = (status === undefined ? WORKSPACE_STATUSES : [status]).flatMap((state) =>
      (sandbox === undefined ? [true, false] : [sandbox]).map((isSandbox) => workspacesBy(state, isSandbox)),
    )
    const found = await findInRoster(work, WorkspaceEntity, { kind: 'workspace', lists, q, limit, offset })
    return { items: found.items.map(presentModeratedWorkspace), total: found.total, limit, offset }
  },
})

const setStatus = defineEndpoint({
  id: 'admin.workspaces.setStatus',
  confirms: true,
  group: 'admin',
  method: 'POST',
  path: '/admin/workspaces/{id}/status',
  params: { id: 'workspace' },
  caller: 'admin',
  role: 'superadmin',
  summary: 'Suspend a workspace or end its suspension',
  description:
    'While a workspace is suspended, integrations get `installation_suspended` from their next request. No work is ' +
    'handed to agents, including runs queued earlier. Active runs are cancelled, and no webhooks are sent. People ' +
    'can read everything but can’t change anything (`forbidden`). A workspace that is being deleted stays in that ' +
    'state; it gets the new status if its owner cancels the deletion.',
  body: SetStatus,
  response: ModeratedWorkspaceSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => setWorkspaceStatus(work, caller, params.id, body),
})

export const endpoints = [list, setStatus]
