import type { Installation } from '#shared/access/installations/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { scopeRefusal, type Workspace } from '#shared/identity/people/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { covers, type Scope } from '#shared/kernel/scopes.ts'
import { PlatformSettingsEntity } from '#shared/staff/platform/index.ts'
import type { ItemOf } from '#shared/table/entity.ts'
import { isTool, TOOLS, type ToolName } from './catalogue.ts'

/** Inputs that determine whether a tool may be called. */
export interface ToolCaller {
  installation: Installation
  workspace: Workspace
  scopes: readonly string[]
}

/** Key of the record with the tools that admins banned for every agent. */
export const bansRef = PlatformSettingsEntity.ref({ name: 'tools' })

export const bannedTools = (settings: ItemOf<typeof PlatformSettingsEntity> | undefined): readonly string[] =>
  settings?.denied_tools ?? []

/** Loads the tools that admins banned for every agent. */
export const loadPlatformBans = async ({ table }: Pick<Deps, 'table'>): Promise<readonly string[]> =>
  bannedTools(await table.get(PlatformSettingsEntity, { name: 'tools' }))

const denied = (reason: 'platform' | 'organization' | 'installation', tool: string, who: string): PlatformError =>
  fail('tool_denied', { message: `The tool ${tool} is banned by ${who}.`, details: { reason, tool } })

/**
 * Returns why the caller may not use the tool, or undefined. Checked in this order: platform ban, the scope to call
 * tools, the tool's own scope, workspace ban, installation ban (contract/tools.md#permission-hierarchy).
 */
export const toolRefusalOf = (
  tool: ToolName,
  { installation, workspace, scopes }: ToolCaller,
  banned: readonly string[],
): PlatformError | undefined => {
  const { scope } = TOOLS[tool]
  if (banned.includes(tool)) return denied('platform', tool, 'the platform')
  const unscoped =
    scopeRefusal('tools:invoke', { scopes, workspace }, 'Calling tools') ??
    scopeRefusal(scope, { scopes, workspace }, `The tool ${tool}`)
  if (unscoped?.code !== 'insufficient_scope') return unscoped ?? toolBanOf(tool, { installation, workspace }, banned)
  const missing = [...new Set<Scope>(['tools:invoke', scope])].filter((one) => !covers(scopes, one))
  return fail('insufficient_scope', {
    message: unscoped.message,
    details: { ...unscoped.details, required_scopes: missing },
  })
}

/**
 * Returns the strongest ban of a tool, or undefined. For what does the same as a tool, and has a scope of its own.
 * @param banned the platform's bans
 */
export const toolBanOf = (
  tool: ToolName,
  { installation, workspace }: Pick<ToolCaller, 'installation' | 'workspace'>,
  banned: readonly string[],
): PlatformError | undefined => {
  if (banned.includes(tool)) return denied('platform', tool, 'the platform')
  if (workspace.denied_tools.includes(tool)) return denied('organization', tool, 'the workspace')
  if (installation.denied_tools.includes(tool)) return denied('installation', tool, 'the installation’s policy')
  return undefined
}

/** Returns {@link toolRefusalOf} with the current bans. An unknown tool is rejected elsewhere. */
export const loadToolRefusal = async (
  deps: Pick<Deps, 'table'>,
  caller: ToolCaller,
  tool: string,
): Promise<PlatformError | undefined> =>
  isTool(tool) ? toolRefusalOf(tool, caller, await loadPlatformBans(deps)) : undefined
