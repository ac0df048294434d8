import { type JsonRpcId, jsonRpcResult } from '#shared/http/json-rpc.ts'
import type { RawResponse, StreamResponse } from '#shared/http/response.ts'
import { A2aError } from '#shared/kernel/a2a-error.ts'
import { fromProtoJson } from '#shared/kernel/a2a-json.ts'
import { perform } from './perform.ts'
import type { Asking, Version } from './scene.ts'
import { OPERATIONS } from './table.ts'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

interface Request {
  id: JsonRpcId
  method: string
  params: Json
}

/** Reads one request. @throws {A2aError} `INVALID_REQUEST` for anything else, batches and notifications included */
const readRequest = (body: unknown): Request => {
  const invalid = (message: string) => new A2aError('INVALID_REQUEST', { message })
  if (!isObject(body) || body.jsonrpc !== '2.0') throw invalid('The body must be one JSON-RPC 2.0 request.')
  const { id, method } = body
  const params = body.params ?? {}
  if (typeof id !== 'string' && !(typeof id === 'number' && Number.isFinite(id))) {
    throw invalid('The id of a request must be a string or a number.')
  }
  if (typeof method !== 'string') throw invalid('The request has no method.')
  if (!isObject(params)) throw new A2aError('INVALID_PARAMS', { message: 'The params must be an object.' })
  return { id, method, params: fromProtoJson('Params', params) }
}

/** Answers one request of the JSON-RPC binding. */
export const answerRequest = async (
  asking: Asking,
  body: unknown,
  version: Version,
): Promise<RawResponse | StreamResponse> => {
  const { id, method, params } = readRequest(body)
  const operation = OPERATIONS.find((one) => one[version]?.method === method)
  if (operation) return perform(operation, asking, params, version, 'kind', (result) => jsonRpcResult(id, result))
  throw new A2aError('METHOD_NOT_FOUND', {
    message: `Version ${version} of A2A has no method ${method.slice(0, 100)}.`,
    fix: 'Send A2A-Version with the version that your client speaks: an absent header means 0.3.',
  })
}
