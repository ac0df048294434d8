import { JSON_RPC } from '#shared/http/json-rpc.ts'
import { MCP_VERSIONS } from '#shared/kernel/mcp-server.ts'
import { unknownOwnKeys } from '#shared/kernel/own-keys.ts'

const [newest, ...older] = MCP_VERSIONS

/** The stateless version of the protocol. Every request carries what the server needs to know of the client. */
export const MODERN = newest

/** Versions with a handshake (`initialize`), newest first. */
export const LEGACY = older

/** Version of a request without a header and a session, by the protocol's own rule. */
export const OLDEST = '2025-06-18'

/** Codes that the protocol adds to those of JSON-RPC. */
export const MCP_ERRORS = {
  ...JSON_RPC,
  headerMismatch: -32_020,
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
  /** In the older versions. */
  resourceNotFound: -32_002,
} as const

/** Prefix of the protocol's own fields in `_meta`. */
const OWN = 'io.modelcontextprotocol/'
export const META = {
  version: `${OWN}protocolVersion`,
  capabilities: `${OWN}clientCapabilities`,
  serverInfo: `${OWN}serverInfo`,
  logLevel: `${OWN}logLevel`,
} as const

/** The platform's own fields in the `_meta` of a request. */
export const OWN_META = { key: 'aip/idempotencyKey', runId: 'aip/run_id', audience: 'aip/audience' } as const

/** @throws {McpError} `invalidParams` for a field of ours that doesn't exist */
export const requireKnownMeta = (meta: Record<string, unknown>, status: 200 | 400): void => {
  const known = Object.values(OWN_META)
  const unknown = unknownOwnKeys(meta, known)
  if (unknown.length === 0) return
  const names = unknown.map((name) => name.slice(0, 100)).join(', ')
  throw new McpError(MCP_ERRORS.invalidParams, `_meta has ${names}, which doesn’t exist. Known: ${known.join(', ')}.`, {
    status,
  })
}

/** Extension by which a call becomes a task that the client follows. */
export const TASKS = `${OWN}tasks`

export type Result = Record<string, unknown>

/** An error that the protocol defines, with the HTTP status that it gets. */
export class McpError extends Error {
  readonly code: number
  readonly status: number
  readonly data: unknown
  constructor(code: number, message: string, { status = 200, data }: { status?: number; data?: unknown } = {}) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A request or notification, as far as JSON-RPC and the protocol define its frame. */
export interface Message {
  /** Absent in a notification. */
  id: string | number | undefined
  method: string
  params: Record<string, unknown>
  meta: Record<string, unknown>
}

/** The version that a request speaks, and what its client can do. */
export interface Lane {
  isModern: boolean
  version: string
  capabilities: Record<string, unknown>
}

/** A client's response to a request of the server. */
export interface ClientResponse {
  id: unknown
  result: Record<string, unknown> | undefined
}

/**
 * Reads one message, or a client's response.
 * @throws {McpError} `invalidRequest` for anything else, batches included
 */
export const readMessage = (body: unknown): Message | ClientResponse => {
  const invalid = (message: string) => new McpError(MCP_ERRORS.invalidRequest, message, { status: 400 })
  if (Array.isArray(body)) throw invalid('Batches aren’t supported. Send one JSON-RPC message per request.')
  if (!isObject(body) || body.jsonrpc !== '2.0') throw invalid('The body must be a JSON-RPC 2.0 message.')
  const { id, method } = body
  const params = body.params ?? {}
  if (method === undefined && ('result' in body || 'error' in body)) {
    return { id, result: isObject(body.result) ? body.result : undefined }
  }
  if (typeof method !== 'string') throw invalid('The message has no method.')
  if (id !== undefined && typeof id !== 'string' && !Number.isInteger(id)) {
    throw invalid('The id of a request must be a string or an integer.')
  }
  if (!isObject(params)) throw invalid('The params must be an object.')
  const meta = isObject(params._meta) ? params._meta : {}
  return { id: id as Message['id'], method, params, meta }
}
