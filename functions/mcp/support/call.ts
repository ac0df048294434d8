import { newRunInPlace } from '#shared/agents/dispatch/index.ts'
import {
  auditedThrough,
  executePersonTool,
  PERSON_TOOLS,
  type PersonToolName,
  personToolRefusal,
} from '#shared/agents/person-tools/index.ts'
import { type Invocation, invokeTool, loadToolRefusal } from '#shared/agents/tools/index.ts'
import { checkEvent } from '#shared/delivery/triggers/index.ts'
import { callerName, type IntegrationCaller, type PersonCaller } from '#shared/http/callers.ts'
import { onceUnderKey } from '#shared/http/once-under-key.ts'
import { checkArguments } from '#shared/http/parse.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { runNotFound } from '#shared/work/runs/index.ts'
import { type AskAnswer, ask, renderAsk } from './ask.ts'
import { isPerson, loadAskRefusal } from './caller.ts'
import { followsTasks, requireCapabilities } from './capabilities.ts'
import type { CallContext } from './context.ts'
import { MCP_ERRORS, McpError, type Message, OWN_META, type Result } from './protocol.ts'
import { readResponses } from './questions.ts'
import { refused, resultOfTool } from './results.ts'
import { openState } from './state.ts'
import { approvalTask } from './tasks.ts'
import type { AgentTool, Named } from './tools.ts'

/** The client's requests to the platform, from `_meta` or a header. */
const extrasOf = ({ meta }: Message, headers: Record<string, string>) => {
  const textOf = (name: string): string | undefined => {
    const value = meta[name]
    if (value === undefined || typeof value === 'string') return value
    throw new McpError(MCP_ERRORS.invalidParams, `_meta["${name}"] must be a string.`)
  }
  return {
    key: textOf(OWN_META.key) ?? headers['idempotency-key'],
    runId: textOf(OWN_META.runId),
    audience: textOf(OWN_META.audience),
  }
}

type Extras = ReturnType<typeof extrasOf>

/**
 * `tools/call`: a platform tool is `POST /tools/{name}/invoke`, an agent's tool is `ask_agent`, each with all of its rules
 * and its audit (contract/mcp.md#calling-a-tool).
 * @throws {McpError} a failure that isn't the tool's answer
 * @throws {PlatformError} `insufficient_scope`, `conflict` and `idempotency_key_reused`, which refuse the request itself
 */
export const callTool = async (
  context: CallContext,
  message: Message,
  named: Named,
  args: Record<string, unknown>,
): Promise<Result> => {
  const { refusal } = named
  if (refusal) {
    if (refusal.code !== 'tool_denied') throw refusal
    throw new McpError(MCP_ERRORS.invalidParams, refusal.message, { data: context.describe(refusal) })
  }
  const extras = extrasOf(message, context.headers)
  const { caller } = context
  if (named.kind === 'agent') return callAgent(context, message, named.tool, args, extras)
  if (named.kind === 'person' && isPerson(caller)) return callPersonTool(context, caller, named.name, args, extras)
  if (isPerson(caller)) throw new McpError(MCP_ERRORS.invalidParams, `There is no tool ${named.name}.`)
  return callPlatformTool(context, caller, named.name, args, extras)
}

/** A tool of a person does what they can do in the console, through their host. */
const callPersonTool = async (
  context: CallContext,
  caller: PersonCaller,
  name: PersonToolName,
  args: Record<string, unknown>,
  { key }: Extras,
): Promise<Result> => {
  const { work } = context
  const { answer, isReplay } = await onceUnderKey<Record<string, unknown>>(
    work,
    {
      key,
      scope: `${callerName(caller)}\nPOST /mcp ${name}`,
      body: canonicalJson({ given: args }),
      workspaceId: caller.workspace.id,
    },
    {
      act: (inner) =>
        executePersonTool(
          auditedThrough(inner, caller, name),
          caller,
          name,
          checkArguments(PERSON_TOOLS[name].input(), args),
          checkEvent,
        ),
      isFinal: () => true,
      mayReplay: async () => personToolRefusal(caller, name, args) === undefined,
    },
  )
  if (answer instanceof PlatformError) return refusedCall(context, answer)
  return marked(resultOfTool({ status: 'ok', result: answer }), isReplay)
}

const callPlatformTool = async (
  context: CallContext,
  caller: IntegrationCaller,
  name: string,
  args: Record<string, unknown>,
  { key, runId }: Extras,
): Promise<Result> => {
  const { work, lane } = context
  const { answer, isReplay } = await onceUnderKey<Invocation>(
    work,
    {
      key,
      scope: `${callerName(caller)}\nPOST /mcp ${name}`,
      body: canonicalJson({ given: args, run_id: runId ?? null }),
      workspaceId: caller.workspace.id,
    },
    {
      act: async (inner) => {
        if (runId !== undefined && !isId('run', runId)) throw runNotFound()
        return invokeTool(
          inner,
          { ...caller, inPlace: newRunInPlace },
          { name, arguments: args, runId },
          checkArguments,
        )
      },
      isFinal: ({ status }) => status !== 'awaiting_approval',
      mayReplay: async () => (await loadToolRefusal(work, caller, name)) === undefined,
    },
  )
  if (answer instanceof PlatformError) return refusedCall(context, answer)
  if (answer.status === 'awaiting_approval' && followsTasks(lane)) {
    const now = work.clock.now()
    return { ...approvalTask(answer.step_id, now, now), resultType: 'task' }
  }
  return marked(resultOfTool(answer), isReplay)
}

const callAgent = async (
  context: CallContext,
  message: Message,
  tool: AgentTool,
  args: Record<string, unknown>,
  { key, runId, audience }: Extras,
): Promise<Result> => {
  const { work, caller, lane } = context
  requireCapabilities(lane, tool.requires, work.settings)
  const { slug } = tool.agent.app
  const called = { tool: `${slug} ${tool.tool}`, arguments: args }
  const { requestState, inputResponses } = message.params
  const responses = inputResponses === undefined ? {} : readResponses(inputResponses)
  const state = requestState === undefined ? undefined : await openState(work, caller, called, requestState)
  const given = { agent: slug, tool: tool.tool, arguments: args, ...(audience !== undefined && { audience }) }
  const { answer, isReplay } = await onceUnderKey<AskAnswer>(
    work,
    {
      key,
      scope: `${callerName(caller)}\nPOST /mcp ${called.tool}`,
      body: canonicalJson({ given, run_id: runId ?? null }),
      workspaceId: caller.workspace.id,
    },
    {
      act: async (inner) => {
        if (runId !== undefined && !isId('run', runId)) throw runNotFound()
        return ask(context, inner, message, { tool, given, called, runId, state, responses })
      },
      isFinal: ({ status }) => status === 'ended' || status === 'task',
      mayReplay: async () => (await loadAskRefusal(work, caller)) === undefined,
    },
  )
  if (answer instanceof PlatformError) return refusedCall(context, answer)
  return marked(renderAsk(context, answer), isReplay)
}

const refusedCall = ({ work, describe }: CallContext, error: PlatformError): Result => {
  if (error.status >= 500)
    work.log.error('an MCP call failed', { request_id: work.requestId, error: error.cause ?? error })
  return refused(error, describe)
}

const marked = (result: Result, isReplay: boolean): Result =>
  isReplay ? { ...result, _meta: { ...(result._meta as object | undefined), 'aip/replayed': true } } : result
