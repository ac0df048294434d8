import * as z from 'zod'
import type { Deps } from '../deps.ts'
import { TOOLS, type ToolName } from './catalogue.ts'
import { platformBans, refusalOf, type ToolCaller } from './permission.ts'

/** Every tool with its schema and whether this installation may call it now. */
export const listTools = async (deps: Pick<Deps, 'table'>, caller: ToolCaller) => {
  const banned = await platformBans(deps)
  return (Object.keys(TOOLS) as ToolName[]).map((name) => {
    const { description, scope, risk, approval, input } = TOOLS[name]
    const refusal = refusalOf(name, caller, banned)
    return {
      name,
      description,
      scope,
      risk,
      approval,
      input_schema: z.toJSONSchema(input(), { io: 'input' }) as Record<string, unknown>,
      allowed: refusal === undefined,
      ...(refusal && { denied_reason: refusal.message }),
    }
  })
}
