import type { Work } from '#shared/foundation/work/index.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { DEFAULT_RESOURCE, findRequestedResource, HOST_SCOPES, STEP_UP_SCOPES } from '#shared/kernel/host-resources.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { standardError } from '#shared/kernel/oauth-errors.ts'
import { SCOPE_NAMES, type Scope } from '#shared/kernel/scopes.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { type Asked, keepPushed, type Pushed, readPushed, takePushed } from '../consents/pushed.ts'
import { redirectBack } from '../oauth/redirect-back.ts'
import { checkChallenge, checkState, requireCode, requireParameter } from '../oauth/request-parameters.ts'
import { resolveHostClient } from './clients.ts'
import { type HostClient, HostConsentEntity } from './entity.ts'
import { matchesRedirect, receiverOf } from './redirects.ts'

type Parameters = Readonly<Record<string, string>>

/** An address that the browser goes to, or an error about which a page tells the person before they go there. */
export interface Leading {
  to: string
  /** Hosts of the client and of `to`. */
  refused?: { error: PlatformError; client: string; receiver: string }
}

/**
 * Handles `GET /connect/authorize` of a host. Errors about the client or its address are shown to the person. All others go
 * back to the client with `state` and `iss` (RFC 6749 §4.1.2.1, RFC 9207).
 *
 * Anybody can be a host, so an error that went to a page of one at once would make the platform an open redirector. The person is
 * told first (RFC 9700 §4.11.2).
 * @param beforeReading see `resolveHostClient`
 */
export const authorizeHost = async (work: Work, asked: Asked, beforeReading: () => Promise<void>): Promise<Leading> => {
  const id = requireParameter(asked.parameters, 'client_id')
  const { parameters, fault, writes } = await takePushed(work, asked)
  const client = await resolveHostClient(work, id, beforeReading)
  const redirect_uri = checkRedirect(client, parameters)
  const host = client.kind === 'document' ? new URL(client.id).host : receiverOf(redirect_uri)
  try {
    if (fault) throw fault
    const checked = checkHostRequest(work, parameters)
    const nonce = newSecret()
    const now = work.clock.now()
    await work.commit([
      HostConsentEntity.create({
        nonce_hash: sha256(nonce),
        client: { id: client.id, name: client.name, host },
        kind: client.kind,
        redirect_uri,
        ...checked,
        created_at: now,
        expires_at: now + LIMITS.consentLife,
      }),
      ...writes,
    ])
    return { to: `${work.settings.baseUrl}/connect/consent?tg=${nonce}` }
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status >= 500) throw error
    const state = parameters.state || undefined
    const to = redirectBack(work.settings, redirect_uri, { ...standardError(error), state }, 'connect')
    const isPage = new URL(redirect_uri).protocol === 'https:'
    return isPage ? { to, refused: { error, client: host, receiver: receiverOf(redirect_uri) } } : { to }
  }
}

/** Handles `POST /connect/par` (RFC 9126) of a host: checks a request and keeps it until the person arrives. */
export const pushHostRequest = async (
  work: Work,
  client: HostClient,
  given: Record<string, string | undefined>,
): Promise<Pushed> => {
  const parameters = readPushed(given)
  checkRedirect(client, parameters)
  checkHostRequest(work, parameters)
  return keepPushed(work, client.id, parameters)
}

/** @throws `invalid_request` or `invalid_redirect_uri` */
const checkRedirect = (client: HostClient, parameters: Parameters): string => {
  const redirect_uri = requireParameter(parameters, 'redirect_uri')
  if (matchesRedirect(client.redirect_uris, redirect_uri)) return redirect_uri
  throw fail('invalid_redirect_uri', {
    message: 'The assistant asked to return to an address that its metadata doesn’t name.',
    fix: 'Start again from the assistant. If this happens again, its makers have to correct their client metadata.',
    details: { received: redirect_uri.slice(0, 2_048) },
  })
}

/** Checks what a request asks for, apart from its client and address. */
const checkHostRequest = (work: Work, parameters: Parameters) => {
  requireCode(parameters)
  const code_challenge = checkChallenge(parameters)
  const state = checkState(parameters)
  const [scopes, resource] = [requestedScopes(parameters.scope), requestedResource(work, parameters.resource)]
  return { code_challenge, state, scopes, resource }
}

const ALL: readonly string[] = [...HOST_SCOPES, ...STEP_UP_SCOPES]

/** Returns the requested scopes in the order of the scope table; without any, the usual ones. @throws `invalid_scope` */
const requestedScopes = (text = ''): Scope[] => {
  const named = text.split(' ').filter(Boolean)
  const outside = named.find((scope) => !ALL.includes(scope))
  if (outside !== undefined) {
    throw fail('invalid_scope', {
      message: `Assistants can't get the scope ${JSON.stringify(outside.slice(0, 60))}.`,
      fix: 'Request scopes of the resource’s metadata, or none for the usual ones.',
      details: { received: outside.slice(0, 200) },
    })
  }
  const asked: readonly string[] = named.length > 0 ? named : HOST_SCOPES
  return SCOPE_NAMES.filter((scope) => asked.includes(scope))
}

/** @throws `invalid_target` */
const requestedResource = ({ settings }: Work, addresses: string | undefined): string => {
  if (!addresses) return DEFAULT_RESOURCE
  const path = findRequestedResource(settings, addresses)
  if (path !== undefined) return path
  throw fail('invalid_target', {
    fix: 'Send the address of the MCP server, as in its metadata.',
    details: { received: addresses.slice(0, 2_048) },
  })
}
