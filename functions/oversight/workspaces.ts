import * as z from 'zod'
import { findInRoster } from '#shared/domain/roster/find.ts'
import { WORKSPACE_STATUSES, workspacesBy } from '#shared/domain/roster/places.ts'
import { ModeratedWorkspaceSchema, presentModeratedWorkspace, SetStatus } from '#shared/domain/suspension/schemas.ts'
import { setWorkspaceStatus } from '#shared/domain/suspension/workspace.ts'
import { WorkspaceEntity } from '#shared/entities/people.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'
import { startsWith, trueOrFalse } from './filters.ts'

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
      sandbox: trueOrFalse('Only developers’ sandboxes, or only customers’. Default: all.'),
      q: startsWith('name'),
    }),
  list: 'offset',
  response: ModeratedWorkspaceSchema,
  handler: async ({ work, query: { status, sandbox, q, limit, offset } }) => {
    const lists = (status === undefined ? WORKSPACE_STATUSES : [status]).flatMap((one) =>
      (sandbox === undefined ? [true, false] : [sandbox]).map((isSandbox) => workspacesBy(one, isSandbox)),
    )
    const found = await findInRoster(work, WorkspaceEntity, { kind: 'workspace', lists, q, limit, offset })
    return { items: found.items.map(presentModeratedWorkspace), total: found.total, limit, offset }
  },
})

const setStatus = defineEndpoint({
  id: 'admin.workspaces.setStatus',
  group: 'admin',
  method: 'POST',
  path: '/admin/workspaces/{id}/status',
  params: { id: 'workspace' },
  caller: 'admin',
  role: 'superadmin',
  summary: 'Suspend a workspace, or end its suspension',
  description:
    'While it is suspended, integrations get `installation_suspended` from their next request on, nothing is handed to agents, also ' +
    'not what was queued before, runs under way are cancelled, no webhook goes out, and people may read but change nothing ' +
    '(`forbidden`). One that is being deleted stays so; the status is what it goes back to when its owner takes that back.',
  body: SetStatus,
  response: ModeratedWorkspaceSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => setWorkspaceStatus(work, caller, params.id, body),
})

export const workspaceEndpoints = [list, setStatus]
