import { NEEDS_IN_PLACE, newRunInPlace } from '#shared/agents/dispatch/index.ts'
import { InvocationResult, InvokeTool, invokeTool, loadToolRefusal } from '#shared/agents/tools/index.ts'
import { handOver } from '#shared/delivery/fan-out/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { checkArguments } from '#shared/http/parse.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { runNotFound } from '#shared/work/runs/index.ts'

const invoke = defineEndpoint({
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
    'Returns `ok` with the result, `awaiting_approval` if a person has to decide first, or `rejected`. ' +
    '`awaiting_approval` isn’t an error: call the tool again later, or wait for the `run.resumed` event. `ask_agent` ' +
    'waits for the other agent until the 120 seconds of the chain are over. If that agent fails, the call is still ' +
    '`ok`, with `result.status: "failed"`. If the calling run ends in the meantime, the other agent’s run is ' +
    'cancelled and the call gets `run_already_finished`.',
  body: InvokeTool,
  // Only save_file accepts this much. Each other tool has its own lower limit.
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
    'budget_exceeded',
  ],
  needs: [...NEEDS_IN_PLACE, 'files:write'],
  // The tool's scope and the bans are checked again before a stored response is replayed.
  replays: async (work, caller, _body, { name }) => (await loadToolRefusal(work, caller, name)) === undefined,
  handler: ({ work, caller, params, body }) => {
    if (body.run_id !== undefined && !isId('run', body.run_id)) throw runNotFound()
    const input = { name: params.name, arguments: body.arguments, runId: body.run_id, reason: body.reason }
    const invoke = (inner: Work) => invokeTool(inner, { ...caller, inPlace: newRunInPlace }, input, checkArguments)
    // Only this one starts a run and waits for it.
    return input.name === 'ask_agent' ? handOver(work, invoke) : invoke(work)
  },
})

export const endpoints = [invoke]
