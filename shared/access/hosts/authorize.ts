import type { Work } from '#shared/foundation/work/index.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { DEFAULT_RESOURCE, findResource, HOST_SCOPES, STEP_UP_SCOPES } from '#shared/kernel/host-resources.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { standardError } from '#shared/kernel/oauth-errors.ts'
import { SCOPE_NAMES, type Scope } from '#shared/kernel/scopes.ts'
import { newSecret, sha256 } from '#shared/kernel/secrets.ts'
import { redirectBack } from '../oauth/redirect-back.ts'
import { checkChallenge, checkState, requireCode, requireParameter } from '../oauth/request-parameters.ts'
import { resolveHostClient } from './clients.ts'
import { HostConsentEntity } from './entity.ts'
import { matchesRedirect, receiverOf } from './redirects.ts'

type Parameters = Readonly<Record<string, string>>

/**
 * Handles `GET /connect/authorize` of a host. Errors about the client or its address are shown to the person. All others go
 * back to the client with `state` and `iss` (RFC 6749 §4.1.2.1, RFC 9207).
 * @param beforeReading see `resolveHostClient`
 * @returns the address of the consent page, or of the client
 */
export const authorizeHost = async (
  work: Work,
  parameters: Parameters,
  beforeReading: () => Promise<void>,
): Promise<string> => {
  const client = await resolveHostClient(work, requireParameter(parameters, 'client_id'), beforeReading)
  const redirect_uri = requireParameter(parameters, 'redirect_uri')
  if (!matchesRedirect(client.redirect_uris, redirect_uri)) {
    throw fail('invalid_redirect_uri', {
      message: 'The assistant asked to return to an address that its metadata doesn’t name.',
      fix: 'Start again from the assistant. If this happens again, its makers have to correct their client metadata.',
      details: { received: redirect_uri.slice(0, 2_048) },
    })
  }
  try {
    requireCode(parameters)
    const code_challenge = checkChallenge(parameters)
    const state = checkState(parameters)
    const [scopes, resource] = [requestedScopes(parameters.scope), requestedResource(work, parameters.resource)]
    const host = client.kind === 'document' ? new URL(client.id).host : receiverOf(redirect_uri)
    const nonce = newSecret()
    const now = work.clock.now()
    await work.commit([
      HostConsentEntity.create({
        nonce_hash: sha256(nonce),
        client: { id: client.id, name: client.name, host },
        kind: client.kind,
        redirect_uri,
        resource,
        scopes,
        state,
        code_challenge,
        created_at: now,
        expires_at: now + LIMITS.consentLife,
      }),
    ])
    return `${work.settings.baseUrl}/connect/consent?tg=${nonce}`
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status >= 500) throw error
    const state = parameters.state || undefined
    return redirectBack(work.settings, redirect_uri, { ...standardError(error), state }, 'connect')
  }
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
const requestedResource = ({ settings }: Work, address: string | undefined): string => {
  if (!address) return DEFAULT_RESOURCE
  const path = findResource(settings, address)
  if (path !== undefined) return path
  throw fail('invalid_target', {
    fix: 'Send the address of the MCP server, as in its metadata.',
    details: { received: address.slice(0, 2_048) },
  })
}
