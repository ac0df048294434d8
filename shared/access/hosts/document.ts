import * as z from 'zod'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { cleanName } from '#shared/kernel/names.ts'
import type { OutgoingResponse } from '#shared/kernel/ports/outgoing-http.ts'
import { sendTraced } from '#shared/kernel/tracing/send.ts'
import type { HostClient } from './entity.ts'
import { isUsableRedirect } from './redirects.ts'

const MOST_CHARACTERS = 2_048
const MOST_BYTES = 10 * 1_024
/** Time in ms for one reading. */
export const DEADLINE = 5 * SECOND

/** Why a document can't be used, for the person who sees the error page. */
export class UnusableDocument extends Error {}

/**
 * Reports whether a client id is the address of a document (client id metadata documents): https, with a path, and without
 * anything that could be read in two ways.
 */
export const isDocumentAddress = (id: string): boolean => {
  if (!/^https?:\/\//.test(id) || id.length > MOST_CHARACTERS || !/^[\x21-\x7e]+$/.test(id)) return false
  if (!URL.canParse(id) || /[#\\]/.test(id)) return false
  const [written = ''] = id.replace(/^https?:\/\/[^/?]*/, '').split('?', 1)
  const isPlain = !written.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part))
  return isPlain && new URL(id).pathname !== '/' && !/^https?:\/\/[^/?]*@/.test(id)
}

const Document = () =>
  z.object({
    client_id: z.string(),
    client_name: z.string().min(1).max(100),
    redirect_uris: z.array(z.string()).min(1).max(20),
    token_endpoint_auth_method: z.enum(['none', 'private_key_jwt']).default('none'),
    client_secret: z.undefined().optional(),
    grant_types: z.array(z.string()).optional(),
    jwks: z.object({ keys: z.array(z.record(z.string(), z.unknown())).min(1).max(20) }).optional(),
    jwks_uri: z.string().optional(),
  })

export type Described = Pick<HostClient, 'name' | 'redirect_uris' | 'auth' | 'jwks' | 'jwks_uri'> & {
  fresh_for: number
}

/** Reads a small JSON document at an address that a stranger chose. Redirects aren't followed. @throws {UnusableDocument} */
export const fetchJson = async (
  { http }: Pick<Deps, 'http'>,
  url: string,
): Promise<{ value: unknown; response: OutgoingResponse }> => {
  const request = {
    method: 'GET' as const,
    url,
    headers: { accept: 'application/json', 'user-agent': 'AgentPlatform/1.0 (+client-metadata)' },
    deadlineMs: DEADLINE,
    maxResponseBytes: MOST_BYTES,
  }
  const response = await sendTraced(http.send, request, { name: 'client_metadata' })
  if (response.kind === 'failure') throw new UnusableDocument(response.message)
  if (response.status !== 200) throw new UnusableDocument(`The server answered with the status ${response.status}.`)
  if (response.truncated) throw new UnusableDocument('The document has more than 10 KiB.')
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(response.headers['content-type'] ?? '')) {
    throw new UnusableDocument('The document isn’t served as application/json.')
  }
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(response.body)), response }
  } catch {
    throw new UnusableDocument('The document isn’t JSON.')
  }
}

/** Reads and checks the document of a client. @throws {UnusableDocument} */
export const readDocument = async (deps: Pick<Deps, 'http' | 'settings'>, id: string): Promise<Described> => {
  const { value, response } = await fetchJson(deps, id)
  const parsed = Document().safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new UnusableDocument(`${issue?.path.join('.') || 'The document'}: ${issue?.message ?? 'invalid'}`)
  }
  const { client_id, client_name, redirect_uris, token_endpoint_auth_method: auth, jwks, jwks_uri } = parsed.data
  if (client_id !== id) throw new UnusableDocument('Its client_id isn’t its own address.')
  const name = cleanName(client_name, 100)
  if (name === '') throw new UnusableDocument('Its client_name can’t be seen.')
  const usable = redirect_uris.filter((uri) => isUsableRedirect(deps.settings, uri))
  if (usable.length === 0) throw new UnusableDocument('None of its redirect_uris can be used.')
  if (auth === 'private_key_jwt' && !jwks && !jwks_uri) throw new UnusableDocument('It has neither jwks nor jwks_uri.')
  if (jwks_uri !== undefined && (!URL.canParse(jwks_uri) || new URL(jwks_uri).origin !== new URL(id).origin)) {
    throw new UnusableDocument('Its jwks_uri is on another host.')
  }
  return {
    name,
    redirect_uris: usable,
    auth,
    ...(jwks && { jwks: JSON.stringify(jwks) }),
    ...(jwks_uri !== undefined && { jwks_uri }),
    fresh_for: freshnessOf(response),
  }
}

/** Returns how long a document may be kept: as it says, within 5 minutes and a day; an hour if it doesn't say. */
export const freshnessOf = ({ headers }: Pick<OutgoingResponse, 'headers'>): number => {
  const caching = headers['cache-control'] ?? ''
  const seconds = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(caching)?.[1]
  if (seconds === undefined) return /no-(?:store|cache)/i.test(caching) ? 5 * MINUTE : HOUR
  return Math.min(Math.max(Number(seconds) * SECOND, 5 * MINUTE), DAY)
}
