import * as z from 'zod'
import type { Installation } from '#shared/access/installations/index.ts'
import { idField, line, time } from '#shared/foundation/schemas/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { WORKSPACE_STATUSES } from '#shared/staff/roster/index.ts'

/** Body of `POST /admin/workspaces/{id}/status` and `POST /admin/installations/{id}/status`. */
export const SetStatus = () =>
  z
    .strictObject({
      status: z.enum(['active', 'suspended']),
      reason: line(2_000).meta({ description: 'Recorded in the audit.', example: 'Unpaid for 90 days.' }),
    })
    .meta({ id: 'SetStatus' })

export type SetStatusInput = z.infer<ReturnType<typeof SetStatus>>

export const ModeratedWorkspaceSchema = () =>
  z
    .object({
      id: idField('ws'),
      name: z.string(),
      is_sandbox: z.boolean(),
      developer_id: z.string().nullable().meta({ description: 'The developer who owns the sandbox.' }),
      status: z.enum(WORKSPACE_STATUSES),
      status_before: z
        .enum(['active', 'suspended'])
        .nullable()
        .meta({ description: 'For a workspace being deleted: the status that cancelling the deletion restores.' }),
      status_reason: z.string().nullable().meta({ description: 'Why the workspace is suspended.' }),
      deletes_at: time().nullable(),
      created_at: time(),
    })
    .meta({ id: 'ModeratedWorkspace' })

export type ModeratedWorkspaceView = z.infer<ReturnType<typeof ModeratedWorkspaceSchema>>

export const presentModeratedWorkspace = (workspace: Workspace): ModeratedWorkspaceView => ({
  id: workspace.id,
  name: workspace.name,
  is_sandbox: workspace.is_sandbox,
  developer_id: workspace.developer_id ?? null,
  status: workspace.status,
  status_before: workspace.status_before ?? null,
  status_reason: workspace.status_reason ?? null,
  deletes_at: workspace.deletes_at === undefined ? null : iso(workspace.deletes_at),
  created_at: iso(workspace.created_at),
})

export const ModeratedInstallationSchema = () =>
  z
    .object({
      id: idField('ins'),
      workspace_id: idField('ws'),
      app_id: idField('app'),
      app_name: z.string(),
      version: z.string(),
      status: z.enum(['active', 'suspended', 'revoked']),
      status_reason: z.string().nullable().meta({ description: 'Why the installation is suspended.' }),
      scopes: z.array(z.string()),
      is_sandbox: z.boolean(),
      created_at: time(),
      updated_at: time(),
    })
    .meta({ id: 'ModeratedInstallation' })

export type ModeratedInstallationView = z.infer<ReturnType<typeof ModeratedInstallationSchema>>

export const presentModeratedInstallation = (installation: Installation): ModeratedInstallationView => ({
  id: installation.id,
  workspace_id: installation.workspace_id,
  app_id: installation.app_id,
  app_name: installation.app_name,
  version: installation.version,
  status: installation.status,
  status_reason: installation.status_reason ?? null,
  scopes: installation.scopes,
  is_sandbox: installation.is_sandbox,
  created_at: iso(installation.created_at),
  updated_at: iso(installation.updated_at),
})
