import type { Agent } from '#shared/access/installations/index.ts'
import type { Manifest } from '#shared/catalogue/manifests/index.ts'
import { loadManifest, type Version, VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { checkRequiredAndTopLevelTypes } from '#shared/kernel/json-schema/arguments.ts'
import { byField } from '#shared/kernel/json-schema/finding.ts'

type DeclaredTool = NonNullable<Manifest['tools']>[number]

/** An agent that a request has found, with the tools of its installed version. */
export interface FoundAgent extends Agent {
  tools: readonly DeclaredTool[]
}

/**
 * Loads the tool as declared by the target's *installed* version (contract/agent-to-agent.md#asking-an-agent).
 * @throws `tool_not_offered`, with the names of the offered tools
 */
export const loadDeclaredTool = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  target: Agent | FoundAgent,
  name: string,
): Promise<DeclaredTool> => {
  const offered = 'tools' in target ? target.tools : await loadOffered(deps, target)
  const found = offered.find((tool) => tool.name === name)
  if (found) return found
  throw fail('tool_not_offered', {
    message: 'The agent’s installed version doesn’t declare this tool.',
    details: { available: offered.map((tool) => tool.name) },
  })
}

const loadOffered = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  { installation: { app_id, version_id } }: Agent,
): Promise<readonly DeclaredTool[]> => {
  const version: Version | undefined = await deps.table.get(VersionEntity, { app_id, id: version_id })
  return version ? ((await loadManifest(deps, version)).tools ?? []) : []
}

/**
 * Checks arguments against the tool's declaration: its `required` list and the types of its properties. Deeper
 * validation is the target's job (contract/agent-to-agent.md#asking-an-agent).
 * @throws `invalid_arguments` with `details.fields`
 */
export const checkArguments = ({ input_schema }: DeclaredTool, args: Record<string, unknown>): void => {
  const mismatches = checkRequiredAndTopLevelTypes(input_schema, args)
  if (mismatches.length === 0) return
  throw fail('invalid_arguments', {
    message: 'The arguments don’t match the tool’s declared input schema.',
    details: { fields: byField(mismatches) },
  })
}
