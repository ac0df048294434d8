import type { Deps } from '#shared/foundation/work/index.ts'
import type { CallerKind, Callers } from '#shared/http/callers.ts'
import { callerName } from '#shared/http/callers.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { decodeCursor, encodeCursor } from '#shared/kernel/cursor.ts'
import { fail } from '#shared/kernel/errors.ts'
import { keptCapabilities } from './capabilities.ts'
import { decodeHeader } from './headers.ts'
import {
  isObject,
  type Lane,
  LEGACY,
  MCP_ERRORS,
  McpError,
  META,
  type Message,
  MODERN,
  OLDEST,
  requireKnownMeta,
} from './protocol.ts'

type Caller = Callers[Exclude<CallerKind, 'none'>]
type Headers = Record<string, string>

/** Reports whether a message belongs to the lane of the stateless version. */
export const isModern = (headers: Headers, { meta }: Pick<Message, 'meta'>): boolean => {
  const named = headers['mcp-protocol-version']
  if (META.version in meta) return true
  return named !== undefined && !LEGACY.some((version) => version === named)
}

/** Headers that repeat a parameter, by method. */
const NAMED: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/**
 * Checks the frame of a request of the stateless version: `_meta`, then the headers that repeat the body, then the version.
 * @throws {McpError} `invalidParams`, `headerMismatch`, `unsupportedVersion`
 */
export const readModern = (headers: Headers, { method, params, meta }: Message): Lane => {
  const { [META.version]: version, [META.capabilities]: capabilities } = meta
  if (typeof version !== 'string' || !isObject(capabilities)) {
    throw new McpError(
      MCP_ERRORS.invalidParams,
      `_meta must have ${META.version} (a string) and ${META.capabilities} (an object).`,
      { status: 400 },
    )
  }
  requireKnownMeta(meta, 400)
  requireEqual(headers, 'MCP-Protocol-Version', version)
  requireEqual(headers, 'Mcp-Method', method)
  const repeated = NAMED[method]
  if (repeated !== undefined && typeof params[repeated] === 'string')
    requireEqual(headers, 'Mcp-Name', params[repeated])
  if (version !== MODERN) {
    throw new McpError(MCP_ERRORS.unsupportedVersion, 'This version of the protocol isn’t supported.', {
      status: 400,
      data: { supported: [MODERN], requested: version.slice(0, 100) },
    })
  }
  return { isModern: true, version, capabilities }
}

const requireEqual = (headers: Headers, name: string, expected: string): void => {
  const sent = headers[name.toLowerCase()]
  if (sent !== undefined && decodeHeader(sent) === expected) return
  throw new McpError(
    MCP_ERRORS.headerMismatch,
    sent === undefined ? `The header ${name} is missing.` : `The header ${name} doesn’t equal the body.`,
    { status: 400 },
  )
}

/** Lifetime of a session id. It names nothing that is stored. */
const SESSION_LIFE = DAY

const sessionContext = (caller: Caller): string => `mcp session\n${callerName(caller)}`

/** Returns a session id: the negotiated version and the client's capabilities, authenticated for this caller. */
export const issueSession = async (deps: Deps, caller: Caller, lane: Lane): Promise<string> => {
  const position = JSON.stringify([lane.version, keptCapabilities(lane), deps.clock.now() + SESSION_LIFE])
  return encodeCursor(await deps.keys.data(), sessionContext(caller), position)
}

/**
 * Reads the version and the capabilities of a client of an older version, from its session and the version header.
 * @throws {McpError} `invalidParams` for a field of ours in `_meta` that doesn't exist
 * @throws `not_found` for a session id that was changed, has expired or belongs to another caller
 */
export const readLegacy = async (
  deps: Deps,
  caller: Caller,
  headers: Headers,
  { meta }: Pick<Message, 'meta'>,
): Promise<Lane> => {
  const id = headers['mcp-session-id']
  requireKnownMeta(meta, 200)
  const session = id === undefined ? undefined : await readSession(deps, caller, id)
  const version = headers['mcp-protocol-version'] ?? session?.version ?? OLDEST
  return { isModern: false, version, capabilities: session?.capabilities ?? {} }
}

const readSession = async (deps: Deps, caller: Caller, id: string) => {
  const position = await decode(deps, caller, id)
  const [version, capabilities, end] = JSON.parse(position) as [string, Lane['capabilities'], number]
  if (end <= deps.clock.now()) throw noSession()
  return { version, capabilities }
}

const decode = async (deps: Deps, caller: Caller, id: string): Promise<string> => {
  try {
    return decodeCursor(await deps.keys.data(), sessionContext(caller), id)
  } catch {
    throw noSession()
  }
}

const noSession = () =>
  fail('not_found', {
    message: 'The session doesn’t exist, has expired, or belongs to another caller.',
    fix: 'Send initialize without Mcp-Session-Id to start another session.',
  })
