import type { Deps } from '#shared/foundation/work/index.ts'
import { TOOLS, type ToolName } from './catalogue.ts'
import { INPUT_SCHEMAS } from './input-schemas.prebuilt.ts'
import { loadPlatformBans, type ToolCaller, toolRefusalOf } from './permission.ts'

/** Lists every tool with its schema and whether this installation may call it now. */
export const listTools = async (deps: Pick<Deps, 'table'>, caller: ToolCaller) => {
  const banned = await loadPlatformBans(deps)
  return (Object.keys(TOOLS) as ToolName[]).map((name) => {
    const { description, scope, risk, approval } = TOOLS[name]
    const refusal = toolRefusalOf(name, caller, banned)
    return {
      name,
      description,
      scope,
      risk,
      approval,
      input_schema: INPUT_SCHEMAS[name],
      allowed: refusal === undefined,
      ...(refusal && { denied_reason: refusal.message }),
    }
  })
}
