import type { Invocation } from '#shared/agents/tools/index.ts'
import { errorText } from '#shared/kernel/error-text.ts'
import type { PlatformError } from '#shared/kernel/errors.ts'
import { runErrorHelp } from '#shared/kernel/run-errors.ts'
import type { ContentBlock } from './content.ts'
import { isObject, MCP_ERRORS, McpError, type Result } from './protocol.ts'

/** Result of `tools/call`, the same in every version of the protocol. */
export interface CallResult extends Result {
  content: ContentBlock[]
  structuredContent: Record<string, unknown>
  isError: boolean
  _meta?: Record<string, unknown>
}

/** Describes a platform error, for `data`. */
export type Describe = (error: PlatformError) => object

/** A refusal that a model can act on is the tool's answer. @throws {McpError} for a failure of the platform */
export const refused = (error: PlatformError, describe: Describe): CallResult => {
  if (error.status >= 500) throw new McpError(MCP_ERRORS.internalError, error.message, { data: describe(error) })
  return failed(errorText(error), { error: describe(error) })
}

export const failed = (text: string, structuredContent: Record<string, unknown>): CallResult => ({
  content: [{ type: 'text', text }],
  structuredContent,
  isError: true,
})

const succeeded = (
  structuredContent: Record<string, unknown>,
  content: ContentBlock[] = [{ type: 'text', text: JSON.stringify(structuredContent) }],
): CallResult => ({ content, structuredContent, isError: false })

/** Result of a platform tool. Without tasks, a client repeats the call until a person has decided. */
export const resultOfTool = (answer: Invocation): CallResult => {
  switch (answer.status) {
    case 'awaiting_approval': {
      const { step_id, tool } = answer
      const text = `A person has to decide whether ${tool} may run. Repeat the same call later to get its result.`
      return succeeded({ status: 'awaiting_approval', step_id, tool }, [{ type: 'text', text }])
    }
    case 'rejected':
      return failed('A person rejected this call. Don’t repeat it.', { status: 'rejected', tool: answer.tool })
    case 'ok': {
      const { result, receipt } = answer
      return { ...succeeded(result), ...(receipt !== undefined && { _meta: { 'aip/receipt': receipt } }) }
    }
  }
}

/**
 * The answer of an agent is a quoted source, and marked as one. A broken agent is a failed call like any other, because an error
 * of the protocol ends the whole turn in many frameworks.
 * @throws {McpError} for an agent that says that it has an internal error
 */
export const resultOfAgent = (
  result: Record<string, unknown>,
  runId: string,
  content: ContentBlock[] | undefined,
): CallResult => {
  const { status, output, error_code, error_message, source, chain_depth } = result
  const _meta = { 'aip/source': source, 'aip/untrusted': true, 'aip/chain_depth': chain_depth, 'aip/run_id': runId }
  if (status === 'succeeded') return { ...succeeded(isObject(output) ? output : {}, content), _meta }
  const failure = { error_code, error_message }
  if (error_code === 'internal_error') {
    throw new McpError(MCP_ERRORS.internalError, String(error_message), { data: { ...failure, _meta } })
  }
  const text = `${error_message} (${error_code}, ${runId}) ${runErrorHelp(String(error_code)).fix}`
  return { ...failed(text, failure), _meta }
}
