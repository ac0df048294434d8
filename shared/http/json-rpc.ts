import * as z from 'zod'
import { errorText } from '../kernel/error-text.ts'
import type { PlatformError } from '../kernel/errors.ts'
import { JSON_RPC } from '../kernel/json-rpc.ts'
import type { errorBody } from './response.ts'

export type JsonRpcId = string | number

/** A JSON-RPC 2.0 message: a request, a notification (no `id`), or a response (no `method`). */
export const JsonRpcMessage = () =>
  z
    .looseObject({
      jsonrpc: z.literal('2.0'),
      id: z.union([z.string(), z.number()]).optional().meta({ example: 1 }),
      method: z.string().optional().meta({ example: 'ping' }),
      params: z.record(z.string(), z.unknown()).optional().meta({ example: {} }),
    })
    .meta({ id: 'JsonRpcMessage' })

/** The response to a JSON-RPC request. */
export const JsonRpcResponse = () =>
  z
    .object({
      jsonrpc: z.literal('2.0'),
      id: z.union([z.string(), z.number(), z.null()]),
      result: z.unknown().optional().meta({ description: 'By the method. Absent in an error.', example: {} }),
      error: z.object({ code: z.number().int(), message: z.string(), data: z.unknown().optional() }).optional(),
    })
    .meta({ id: 'JsonRpcResponse', example: { jsonrpc: '2.0', id: 1, result: {} } })

export { JSON_RPC }

/** Returns the id of a message, or null if it has none that a response could carry. */
export const idOf = (message: unknown): JsonRpcId | null => {
  const id = typeof message === 'object' && message !== null && 'id' in message ? message.id : undefined
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id)) ? id : null
}

export const jsonRpcError = (id: JsonRpcId | null, code: number, message: string, data?: unknown) => ({
  jsonrpc: '2.0' as const,
  id,
  error: { code, message, ...(data !== undefined && { data }) },
})

export const jsonRpcResult = (id: JsonRpcId, result: Record<string, unknown> | unknown[] | null) => ({
  jsonrpc: '2.0' as const,
  id,
  result,
})

/**
 * Wraps a platform error. A body that isn't JSON has a code of JSON-RPC. Errors that it doesn't define have the HTTP
 * status as their code (contract/mcp.md#errors).
 */
export const jsonRpcFailure = (
  id: JsonRpcId | null,
  error: PlatformError,
  { error: data }: ReturnType<typeof errorBody>,
) => jsonRpcError(id, error.code === 'bad_request' ? JSON_RPC.parseError : error.status, errorText(error), data)
