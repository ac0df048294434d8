import type { Deps } from '../deps.ts'
import { TOOLS, type ToolName } from './catalogue.ts'
import { INPUT_SCHEMAS } from './input-schemas.prebuilt.ts'
import { platformBans, refusalOf, type ToolCaller } from './permission.ts'

/** Every tool with its schema and whether this installation may call it now. */
export const listTools = async (deps: Pick<Deps, 'table'>, caller: ToolCaller) => {
  const banned = await platformBans(deps)
  return (Object.keys(TOOLS) as ToolName[]).map((name) => {
    const { description, scope, risk, approval } = TOOLS[name]
    const refusal = refusalOf(name, caller, banned)
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
