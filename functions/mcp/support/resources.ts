import type { Work } from '#shared/foundation/work/index.ts'
import { callerName, type IntegrationCaller } from '#shared/http/callers.ts'
import { HOUR } from '#shared/kernel/clock.ts'
import { decodeCursor, encodeCursor } from '#shared/kernel/cursor.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { agentFileUser, type FileUser, listFiles, loadContent } from '#shared/work/files/index.ts'
import { readRun, readRunForWorkspace } from '#shared/work/runs/index.ts'
import { isPerson, refusalOf } from './caller.ts'
import type { RequestContext } from './context.ts'
import { MCP_ERRORS, McpError, type Message, type Result } from './protocol.ts'

const FILES = 'aip://files/'
const RUNS = 'aip://runs/'

/** Files on a page of the list. */
const PAGE = 50

/** Largest content that is read into one answer. */
const LARGEST = 4 * 1_024 * 1_024

/** Lists the workspace's files, newest first. A caller that may not read them sees none. */
export const listResources = async (
  context: RequestContext,
  { params }: Message,
  readCursor: (read: () => string) => string,
): Promise<Result> => {
  const { work, caller } = context
  const hints = { ttlMs: 0, cacheScope: 'private' }
  if (refusalOf(caller, 'files:read', 'Listing files')) return { resources: [], ...hints }
  const ring = await work.keys.data()
  const bound = JSON.stringify([callerName(caller), 'mcp resources'])
  const cursor = params.cursor ?? undefined
  const after = cursor === undefined ? undefined : readCursor(() => decodeCursor(ring, bound, String(cursor)))
  const { items, next } = await listFiles(work, caller.workspace.id, { kind: 'file' }, { limit: PAGE, after })
  const resources = items.flatMap((file) =>
    'size' in file && file.status === 'ready'
      ? [
          {
            uri: `${FILES}${file.id}`,
            name: file.name,
            mimeType: file.content_type,
            size: file.size,
            annotations: { lastModified: file.created_at },
          },
        ]
      : [],
  )
  return { resources, ...(next !== undefined && { nextCursor: encodeCursor(ring, bound, next) }), ...hints }
}

export const listTemplates = async (): Promise<Result> => ({
  resourceTemplates: [
    { uriTemplate: `${FILES}{id}`, name: 'file', title: 'File of the workspace' },
    { uriTemplate: `${RUNS}{id}`, name: 'run', title: 'Run with its steps', mimeType: 'application/json' },
  ],
  ttlMs: HOUR,
  cacheScope: 'public',
})

/** @throws {McpError} for an address that names nothing, or something too large */
export const readResource = async (context: RequestContext, { params: { uri } }: Message): Promise<Result> => {
  if (typeof uri !== 'string') throw new McpError(MCP_ERRORS.invalidParams, 'resources/read needs uri (a string).')
  const contents = await contentsOf(context, uri)
  if (!contents) {
    const code = context.lane.isModern ? MCP_ERRORS.invalidParams : MCP_ERRORS.resourceNotFound
    const message = 'There is no such resource, or it has more than 4 MiB.'
    throw new McpError(code, message, { data: { uri: uri.slice(0, 1_000) } })
  }
  return { contents: [{ uri, ...contents }], ttlMs: 0, cacheScope: 'private' }
}

const contentsOf = async (context: RequestContext, uri: string): Promise<object | undefined> => {
  try {
    if (uri.startsWith(FILES)) return await readFile(context, uri.slice(FILES.length))
    if (uri.startsWith(RUNS)) return await readOwnRun(context, uri.slice(RUNS.length))
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status !== 404) throw error
  }
  return undefined
}

/** Types whose content is text, besides `text/*`. */
const TEXTUAL = /^application\/(json|xml|javascript|x-ndjson|yaml)$|\+(json|xml)$/

const readFile = async (context: RequestContext, id: string): Promise<object | undefined> => {
  const refusal = refusalOf(context.caller, 'files:read', 'Reading files')
  if (refusal) throw refusal
  if (!isId('file', id)) return undefined
  const found = await loadContent(context.work, context.caller.workspace.id, id, LARGEST, userOf(context.caller))
  if (!found) return undefined
  const { file, bytes } = found
  const [type = ''] = file.content_type.split(';', 1)
  const text = type.startsWith('text/') || TEXTUAL.test(type) ? textOf(bytes) : undefined
  const mimeType = file.content_type
  return text === undefined ? { mimeType, blob: Buffer.from(bytes).toString('base64') } : { mimeType, text }
}

const userOf = (caller: RequestContext['caller']): FileUser =>
  isPerson(caller) ? { actor: { type: 'user', id: caller.person.id, name: caller.person.name } } : agentFileUser(caller)

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const readOwnRun = async (context: RequestContext, id: string): Promise<object | undefined> => {
  const { work, caller } = context
  const refusal = refusalOf(caller, 'runs:read', 'Reading runs')
  if (refusal) throw refusal
  if (!isId('run', id)) return undefined
  const run = await (isPerson(caller)
    ? readRunForWorkspace(work, caller.workspace.id, caller.person.id, id)
    : readRunOf(work, caller, id))
  if (!run) return undefined
  const text = JSON.stringify(run)
  return Buffer.byteLength(text) > LARGEST ? undefined : { mimeType: 'application/json', text }
}

/** A callback token reads its own run only. */
const readRunOf = async (work: Work, { installation, run, viewer }: IntegrationCaller, id: string) =>
  run && run.id !== id ? undefined : readRun(work, { installation_id: installation.id, id }, viewer)
