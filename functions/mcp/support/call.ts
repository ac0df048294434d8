import * as z from 'zod'
import { type Invocation, invokeTool, loadToolRefusal } from '#shared/agents/tools/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { callerName, type IntegrationCaller } from '#shared/http/callers.ts'
import { onceUnderKey } from '#shared/http/once-under-key.ts'
import { check } from '#shared/http/parse.ts'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { runNotFound } from '#shared/work/runs/index.ts'
import { isObject, MCP_ERRORS, McpError, type Message } from './protocol.ts'
import type { Named } from './tools.ts'

/** Result of `tools/call`, the same in every version of the protocol. */
export interface CallResult {
  [field: string]: unknown
  content: { type: 'text'; text: string }[]
  structuredContent: Record<string, unknown>
  isError: boolean
  _meta?: Record<string, unknown>
}

/** Outcome of a call, as it is kept under its key. The run is that of the asked agent. */
type Answer = Invocation & { asked_run?: string }

export interface CallContext {
  work: Work
  caller: IntegrationCaller
  headers: Record<string, string>
  /** Describes a platform error, for `data`. */
  describe(error: PlatformError): object
}

/** The client's requests to the platform, from `_meta` or a header. */
const extrasOf = ({ meta }: Message, headers: Record<string, string>) => {
  const textOf = (name: string): string | undefined => {
    const value = meta[name]
    if (value === undefined || typeof value === 'string') return value
    throw new McpError(MCP_ERRORS.invalidParams, `_meta["${name}"] must be a string.`)
  }
  return {
    key: textOf('aip/idempotencyKey') ?? headers['idempotency-key'],
    runId: textOf('aip/run_id'),
    audience: textOf('aip/audience'),
  }
}

/**
 * `tools/call`: a platform tool is `POST /tools/{name}/invoke`, an agent's tool is `ask_agent`, each with all of its rules
 * and its audit (contract/mcp.md#calling-a-tool).
 * @throws {McpError} a failure that isn't the tool's answer
 * @throws {PlatformError} `insufficient_scope`, `conflict` and `idempotency_key_reused`, which refuse the request itself
 */
export const callTool = async (
  { work, caller, headers, describe }: CallContext,
  message: Message,
  named: Named,
  args: Record<string, unknown>,
): Promise<CallResult> => {
  const { refusal } = named
  if (refusal) {
    if (refusal.code !== 'tool_denied') throw refusal
    throw new McpError(MCP_ERRORS.invalidParams, refusal.message, { data: describe(refusal) })
  }
  const { key, runId, audience } = extrasOf(message, headers)
  const name = named.kind === 'platform' ? named.name : 'ask_agent'
  const given =
    named.kind === 'platform'
      ? args
      : { agent: named.tool.slug, tool: named.tool.tool, arguments: args, ...(audience !== undefined && { audience }) }
  const { answer, isReplay } = await onceUnderKey<Answer>(
    work,
    {
      key,
      scope: `${callerName(caller)}\nPOST /mcp ${named.kind === 'platform' ? name : `${named.tool.slug} ${named.tool.tool}`}`,
      body: canonicalJson({ given, run_id: runId ?? null }),
      workspaceId: caller.workspace.id,
    },
    {
      act: async (inner) => {
        if (runId !== undefined && !isId('run', runId)) throw runNotFound()
        return withAskedRun(inner, (traced) =>
          invokeTool(traced, caller, { name, arguments: given, runId }, checkArguments),
        )
      },
      isFinal: ({ status }) => status !== 'awaiting_approval',
      mayReplay: async () => (await loadToolRefusal(work, caller, name)) === undefined,
    },
  )
  if (answer instanceof PlatformError && answer.status >= 500)
    work.log.error('an MCP call failed', { request_id: work.requestId, error: answer.cause ?? answer })
  const result = answer instanceof PlatformError ? refused(answer, describe) : resultOf(answer, named)
  return isReplay ? { ...result, _meta: { ...result._meta, 'aip/replayed': true } } : result
}

const checkArguments = (schema: z.ZodType<Record<string, unknown>>, value: unknown): Record<string, unknown> =>
  check(z.object({ arguments: schema }), { arguments: value }, 'The tool’s arguments').arguments

/** Makes the call and adds the run that `ask_agent` started: the first id of a run that the call took. */
const withAskedRun = async (work: Work, invoke: (work: Work) => Promise<Invocation>): Promise<Answer> => {
  let asked_run: string | undefined
  const add = (answer: Invocation): Answer => ({ ...answer, ...(asked_run !== undefined && { asked_run }) })
  return add(
    await invoke({
      ...work,
      id(kind) {
        const id = work.id(kind)
        if (kind === 'run') asked_run ??= id
        return id
      },
      commit: (writes, answer) => work.commit(writes, answer === undefined ? undefined : add(answer as Invocation)),
    }),
  )
}

/** A refusal that a model can act on is the tool's answer. @throws {McpError} for a failure of the platform */
const refused = (error: PlatformError, describe: CallContext['describe']): CallResult => {
  if (error.status >= 500) throw new McpError(MCP_ERRORS.internalError, error.message, { data: describe(error) })
  return failed(`${error.message} ${error.fix}`, { error: describe(error) })
}

const failed = (text: string, structuredContent: Record<string, unknown>): CallResult => ({
  content: [{ type: 'text', text }],
  structuredContent,
  isError: true,
})

const succeeded = (
  structuredContent: Record<string, unknown>,
  text = JSON.stringify(structuredContent),
): CallResult => ({
  content: [{ type: 'text', text }],
  structuredContent,
  isError: false,
})

/** Run errors that say nothing of what the agent was asked: the agent itself is broken. */
const BROKEN: readonly unknown[] = ['agent_unreachable', 'agent_invalid_response', 'agent_timeout', 'internal_error']

const resultOf = (answer: Answer, named: Named): CallResult => {
  switch (answer.status) {
    case 'awaiting_approval': {
      const { step_id, tool } = answer
      return succeeded(
        { status: 'awaiting_approval', step_id, tool },
        `A person has to decide whether ${tool} may run. Repeat the same call later to get its result.`,
      )
    }
    case 'rejected':
      return failed('A person rejected this call. Don’t repeat it.', { status: 'rejected', tool: answer.tool })
    case 'ok': {
      if (named.kind === 'platform') {
        const { result, receipt } = answer
        return { ...succeeded(result), ...(receipt !== undefined && { _meta: { 'aip/receipt': receipt } }) }
      }
      return answerOfAgent(answer.result, answer.asked_run)
    }
  }
}

/** The answer of an agent is a quoted source, and marked as one. */
const answerOfAgent = (result: Record<string, unknown>, askedRun: string | undefined): CallResult => {
  const { status, output, error_code, error_message, source, chain_depth } = result
  const _meta = {
    'aip/source': source,
    'aip/untrusted': true,
    'aip/chain_depth': chain_depth,
    ...(askedRun !== undefined && { 'aip/run_id': askedRun }),
  }
  if (status === 'succeeded') return { ...succeeded(isObject(output) ? output : {}), _meta }
  const failure = { error_code, error_message }
  if (BROKEN.includes(error_code)) {
    throw new McpError(MCP_ERRORS.internalError, String(error_message), { data: { ...failure, _meta } })
  }
  return { ...failed(`${error_message} (${error_code})`, failure), _meta }
}
