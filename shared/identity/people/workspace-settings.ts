import * as z from 'zod'
import { deniedTools } from '#shared/foundation/tools/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Workspace, WorkspaceEntity } from './entity.ts'

/** Body of `PUT /console/settings/cross-agent`. */
export const CrossAgent = () => z.strictObject({ enabled: z.boolean() }).meta({ id: 'CrossAgent' })

/** Body of `PUT /console/settings/bans` (contract/people-and-workspaces.md#organization-bans). */
export const Bans = () =>
  z
    .strictObject({
      denied_tools: deniedTools().meta({ description: 'Platform tools that agents in this workspace can’t call.' }),
      denied_scopes: z
        .array(z.enum(SCOPE_NAMES))
        .max(SCOPE_NAMES.length)
        .transform((scopes) => [...new Set(scopes)])
        .meta({ description: 'Scopes that agents in this workspace can’t use, even if they were granted.' }),
    })
    .meta({ id: 'Bans' })

/** Settings of a workspace that restrict its agents. */
export const OrganizationSettingsSchema = () =>
  z
    .object({
      cross_agent_enabled: z.boolean().meta({ description: 'True if agents can call each other.' }),
      denied_tools: z.array(z.string()),
      denied_scopes: z.array(z.string()),
    })
    .meta({ id: 'OrganizationSettings' })

type Settings = Pick<Workspace, 'cross_agent_enabled' | 'denied_tools' | 'denied_scopes'>

export type OrganizationSettingsView = z.infer<ReturnType<typeof OrganizationSettingsSchema>>

const settingsOf = ({ cross_agent_enabled, denied_tools, denied_scopes }: Settings): Settings => ({
  cross_agent_enabled,
  denied_tools,
  denied_scopes,
})

/**
 * Changes the settings that restrict a workspace's agents. Changes apply to the next request. Equal values change nothing.
 * @param action the action in the audit log
 */
export const changeWorkspaceSettings = (
  work: Work,
  by: { workspaceId: string; userId: string },
  action: 'workspace.cross_agent_changed' | 'workspace.bans_changed',
  changes: Partial<Settings>,
): Promise<OrganizationSettingsView> =>
  retryOnConflict(async () => {
    const workspace = await work.table.get(WorkspaceEntity, { id: by.workspaceId })
    if (!workspace) throw fail('not_found')
    const now = settingsOf(workspace)
    const view = { ...now, ...changes }
    const names = Object.keys(changes) as (keyof Settings)[]
    const before = Object.fromEntries(names.map((name) => [name, now[name]])) as Partial<Settings>
    if (JSON.stringify(before) === JSON.stringify(changes)) return view
    await work.commit(
      [
        WorkspaceEntity.update(workspace, { set: changes }, { where: before }),
        auditPerson(work, by, action, { type: 'workspace', id: by.workspaceId }, { before, after: changes }),
      ],
      view,
    )
    return view
  })
