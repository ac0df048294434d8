import * as z from 'zod'
import { type Workspace, WorkspaceEntity } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { SCOPE_NAMES } from '../../kernel/scopes.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { deniedTools } from '../tools/denied-tools.ts'
import { tryAgain } from '../try-again.ts'

/** `PUT /console/settings/cross-agent`. */
export const CrossAgent = () => z.strictObject({ enabled: z.boolean() }).meta({ id: 'CrossAgent' })

/** `PUT /console/settings/bans` (decisions §3). */
export const Bans = () =>
  z
    .strictObject({
      denied_tools: deniedTools().meta({ description: 'Platform tools that no agent of the organization may call.' }),
      denied_scopes: z
        .array(z.enum(SCOPE_NAMES))
        .max(SCOPE_NAMES.length)
        .transform((scopes) => [...new Set(scopes)])
        .meta({ description: 'Scopes that no agent of the organization may use, whatever it was granted.' }),
    })
    .meta({ id: 'Bans' })

/** What an organization lets its agents do. */
export const OrganizationSettingsSchema = () =>
  z
    .object({
      cross_agent_enabled: z.boolean().meta({ description: 'Whether agents may call each other.' }),
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
 * Sets what an organization lets its agents do; holds from their next request on. What is the same already changes
 * nothing.
 * @param action what the audit calls it
 */
export const setOrganization = (
  work: Work,
  by: { workspaceId: string; userId: string },
  action: 'workspace.cross_agent_changed' | 'workspace.bans_changed',
  changes: Partial<Settings>,
): Promise<OrganizationSettingsView> =>
  tryAgain(async () => {
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
