import type { Installation } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import { PlatformSettingsEntity } from '../../entities/platform.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import type { ItemOf } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'
import { scopeRefusal } from '../scope-refusal.ts'
import { isTool, TOOLS, type ToolName } from './catalogue.ts'

/** What decides whether a tool may be called. */
export interface ToolCaller {
  installation: Installation
  workspace: Workspace
  scopes: readonly string[]
}

/** Where the tools are kept that the platform’s staff banned for everybody. */
export const bansRef = { entity: PlatformSettingsEntity, key: PlatformSettingsEntity.key({ name: 'tools' }) } as const

export const bansIn = (settings: ItemOf<typeof PlatformSettingsEntity> | undefined): readonly string[] =>
  settings?.denied_tools ?? []

/** Tools that the platform’s staff banned for everybody. */
export const platformBans = async ({ table }: Pick<Deps, 'table'>): Promise<readonly string[]> =>
  bansIn(await table.get(PlatformSettingsEntity, { name: 'tools' }))

const denied = (reason: 'platform' | 'organization' | 'installation', tool: string, who: string): PlatformError =>
  fail('tool_denied', { message: `${who} banned ${tool}.`, details: { reason, tool } })

/**
 * Why the caller may not use the tool, the strongest reason first: platform ban, the scope to call tools, the tool's own,
 * organization ban, installation ban (specification "Permission hierarchy"). Undefined when it may.
 */
export const refusalOf = (
  tool: ToolName,
  { installation, workspace, scopes }: ToolCaller,
  banned: readonly string[],
): PlatformError | undefined => {
  const { scope } = TOOLS[tool]
  if (banned.includes(tool)) return denied('platform', tool, 'The platform')
  const unscoped =
    scopeRefusal('tools:invoke', { scopes, workspace }, 'Calling tools') ??
    scopeRefusal(scope, { scopes, workspace }, `The tool ${tool}`)
  if (unscoped) return unscoped
  if (workspace.denied_tools.includes(tool)) return denied('organization', tool, 'An admin of the organization')
  if (installation.denied_tools.includes(tool)) return denied('installation', tool, 'The installation’s policy')
  return undefined
}

/** {@link refusalOf} as things stand now. An unknown tool refuses itself. */
export const toolRefusal = async (
  deps: Pick<Deps, 'table'>,
  caller: ToolCaller,
  tool: string,
): Promise<PlatformError | undefined> => (isTool(tool) ? refusalOf(tool, caller, await platformBans(deps)) : undefined)
