import * as z from 'zod'
import { noSuchRun } from '#shared/domain/runs/change.ts'
import { invokeTool } from '#shared/domain/tools/invoke.ts'
import { toolRefusal } from '#shared/domain/tools/permission.ts'
import { InvocationResult, InvokeTool } from '#shared/domain/tools/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { check } from '#shared/http/parse.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

export const invoke = defineEndpoint({
  id: 'api.tools.invoke',
  group: 'api',
  method: 'POST',
  path: '/api/v1/tools/{name}/invoke',
  params: { name: 'text' },
  caller: 'integration',
  scope: 'tools:invoke',
  waits: true,
  summary: 'Call a platform tool',
  description:
    'Answers `ok` with the result, `awaiting_approval` when a person has to decide first (not an error: call again, or wait ' +
    'for `run.resumed`), or `rejected`. `ask_agent` waits for the other agent until its chain’s 120 seconds end; an agent ' +
    'that failed is still `ok`, with `result.status: "failed"`. When the calling run ends meanwhile, the asked one is ' +
    'cancelled and the call is `run_already_finished`.',
  body: InvokeTool,
  // Of the tools, save_file takes that much; what the others take is bounded by each.
  maxBodyBytes: LIMITS.requestBodyBytes,
  response: InvocationResult,
  errors: [
    'unknown_tool',
    'tool_denied',
    'blocked_target',
    'run_already_finished',
    'conflict',
    'too_many_steps',
    'not_found',
    'forbidden',
    'unknown_agent',
    'ambiguous_agent',
    'tool_not_offered',
    'invalid_arguments',
    'agent_cannot_take_tasks',
    'chain_too_deep',
    'chain_budget_exceeded',
    'too_many_active_runs',
  ],
  needs: ['objects:read', 'objects:write', 'files:write'],
  // The tool's own scope and the bans are checks, too, that a kept answer does not get past.
  replays: async (work, caller, _body, { name }) => (await toolRefusal(work, caller, name)) === undefined,
  handler: ({ work, caller, params, body }) => {
    if (body.run_id !== undefined && !isId('run', body.run_id)) throw noSuchRun()
    const input = { name: params.name, arguments: body.arguments, runId: body.run_id }
    return invokeTool(
      work,
      caller,
      input,
      (schema, value) =>
        (
          check(z.object({ arguments: schema }), { arguments: value }, 'The tool’s arguments') as {
            arguments: Record<string, unknown>
          }
        ).arguments,
    )
  },
})
