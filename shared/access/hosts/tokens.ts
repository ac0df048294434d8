import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import * as z from 'zod'
import { issueToken, verifyToken } from '#shared/foundation/tokens/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import { fail, PlatformError } from '#shared/kernel/errors.ts'
import { findRequestedResource, findResource } from '#shared/kernel/host-resources.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newSecretOf, sameSecret, sha256 } from '#shared/kernel/secrets.ts'
import { ConditionFailed, ifUnchanged, Superseded, type Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { narrowedScopes } from '../oauth/narrow.ts'
import { type EndReason, endWrites } from './end.ts'
import {
  type HostClient,
  HostClientEntity,
  type HostCode,
  HostCodeEntity,
  type HostGrant,
  HostGrantEntity,
  type HostRefreshToken,
  HostRefreshTokenEntity,
} from './entity.ts'
import { loadPrincipal, type PersonPrincipal } from './person.ts'

/** Token response of a host (RFC 6749 §5.1). */
export const HostTokensSchema = () =>
  z
    .object({
      access_token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int().meta({ example: 3_600 }),
      refresh_token: z.string().meta({ example: 'hrt_…' }),
      scope: z.string().meta({ example: 'agents:read runs:write' }),
    })
    .meta({ id: 'HostTokenResponse' })

export type HostTokens = z.infer<ReturnType<typeof HostTokensSchema>>

/** Parameters of a token request. One without a value counts as missing. */
export interface HostTokenRequest {
  grant_type?: string | undefined
  code?: string | undefined
  code_verifier?: string | undefined
  redirect_uri?: string | undefined
  refresh_token?: string | undefined
  scope?: string | undefined
  resource?: string | undefined
}

/** Codes and refresh tokens name their workspace, in whose partition they are kept. They contain no other secret than the last part. */
const placeOf = (secret: string): { workspace_id: string; hash: string } | undefined => {
  const id = /^(?:hc|hrt)_([0-9a-z]{26})_[\w-]{43}$/.exec(secret)?.[1]
  return id === undefined ? undefined : { workspace_id: `ws_${id}`, hash: sha256(secret) }
}

/** Creates the code that a client exchanges for tokens, once, within a minute. */
export const newHostCode = (
  { clock }: Pick<Deps, 'clock'>,
  grant: HostGrant,
  given: Pick<HostCode, 'redirect_uri' | 'code_challenge'>,
): { code: string; write: Write } => {
  const code = newSecretOf('hc', grant.workspace_id)
  const write = HostCodeEntity.create({
    workspace_id: grant.workspace_id,
    code_hash: sha256(code),
    grant_id: grant.id,
    client_id: grant.client.id,
    redirect_uri: given.redirect_uri,
    code_challenge: given.code_challenge,
    expires_at: clock.now() + LIMITS.hostCodeLife,
  })
  return { code, write }
}

/**
 * Handles `POST /connect/token` of a host.
 * @throws `invalid_request`, `unsupported_grant_type`, `invalid_grant`, `invalid_scope`, `invalid_target`,
 *   `installation_suspended`
 */
export const exchangeForHost = (work: Work, client: HostClient, request: HostTokenRequest): Promise<HostTokens> => {
  const grantType = need(request, 'grant_type')
  if (grantType === 'authorization_code') return redeem(work, client, request)
  if (grantType === 'refresh_token') return refresh(work, client, request)
  throw fail('unsupported_grant_type', { details: { received: grantType.slice(0, 100) } })
}

const need = (request: HostTokenRequest, name: keyof HostTokenRequest): string => {
  const value = request[name]
  if (value) return value
  throw fail('invalid_request', { message: `${name} is missing.`, fix: `Send ${name} in the body.` })
}

const invalidGrant = (message: string) =>
  fail('invalid_grant', { message, fix: 'Ask the person to connect the assistant again.' })

/**
 * Exchanges a code, once. A later exchange with the right verifier ends the grant, because somebody else may hold a copy.
 * Codes of other clients are as unknown as none.
 */
const redeem = async (work: Work, client: HostClient, request: HostTokenRequest): Promise<HostTokens> => {
  const place = placeOf(need(request, 'code'))
  const verifier = need(request, 'code_verifier')
  const { workspace_id, hash: code_hash } = place ?? { workspace_id: '', hash: '' }
  const code = place && (await work.table.get(HostCodeEntity, { workspace_id, code_hash }))
  if (!code || code.client_id !== client.id) throw invalidGrant('The authorization code is invalid.')
  if (request.redirect_uri !== code.redirect_uri) {
    throw invalidGrant('The redirect_uri differs from the one in the authorize request.')
  }
  const proof = createHash('sha256').update(verifier).digest('base64url')
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier) || !sameSecret(code.code_challenge, proof)) {
    throw invalidGrant('The code_verifier doesn’t match the code_challenge.')
  }
  if (code.used_at !== undefined) {
    await endBecause(work, code, 'code_reuse')
    throw invalidGrant('The authorization code has already been used. The access was ended.')
  }
  const now = work.clock.now()
  if (code.expires_at <= now) throw invalidGrant('The authorization code has expired; it is valid for a minute.')
  const principal = await loadLive(work, code)
  refuseOtherResource(work, principal.grant, request.resource)
  const pair = await newPair(work, principal)
  const used = HostCodeEntity.update(
    { workspace_id, code_hash },
    { set: { used_at: now } },
    { where: { used_at: missing }, otherwise: () => invalidGrant('The authorization code has already been used.') },
  )
  await work.commit([used, ...pair.writes, ...usedNow(work, principal.grant, client)], pair.response)
  return pair.response
}

/**
 * Replaces a refresh token. A replaced one ends the grant, unless it comes again within 30 seconds and its successor is
 * unused: then the first answer got lost, and is given again.
 */
const refresh = async (work: Work, client: HostClient, request: HostTokenRequest): Promise<HostTokens> => {
  const place = placeOf(need(request, 'refresh_token'))
  const { workspace_id, hash: token_hash } = place ?? { workspace_id: '', hash: '' }
  const read = async () => (place ? work.table.get(HostRefreshTokenEntity, { workspace_id, token_hash }) : undefined)
  const token = await read()
  if (!token || token.client_id !== client.id) throw invalidGrant('The refresh token is invalid.')
  const principal = await loadLive(work, token)
  refuseOtherResource(work, principal.grant, request.resource)
  if (token.rotated_at !== undefined) return repeatOrEnd(work, token)
  const now = work.clock.now()
  if (token.expires_at <= now) throw invalidGrant('The refresh token has expired after 30 days without use.')
  const pair = await newPair(work, principal, narrowedScopes(request.scope, principal.grant.scopes))
  const kept = await seal(work.keys.ofWorkspace(workspace_id), recordOf(token), JSON.stringify(pair.response))
  const rotated = HostRefreshTokenEntity.update(
    token,
    { set: { rotated_at: now, successor_hash: pair.token_hash, kept } },
    { where: { rotated_at: missing }, otherwise: () => new Superseded() },
  )
  try {
    await work.commit([rotated, ...pair.writes, ...usedNow(work, principal.grant, client)], pair.response)
    return pair.response
  } catch (error) {
    if (!(error instanceof Superseded)) throw error
    return repeatOrEnd(work, (await read()) ?? token)
  }
}

const recordOf = ({ token_hash }: HostRefreshToken): string => `host refresh:${token_hash}`

const repeatOrEnd = async (work: Work, token: HostRefreshToken): Promise<HostTokens> => {
  const { workspace_id, rotated_at = 0, successor_hash = '', kept } = token
  const successor = await work.table.get(HostRefreshTokenEntity, { workspace_id, token_hash: successor_hash })
  const isRecent = work.clock.now() - rotated_at <= LIMITS.hostRefreshRepeat
  if (isRecent && kept !== undefined && successor && successor.rotated_at === undefined) {
    return JSON.parse(await unseal(work.keys.ofWorkspace(workspace_id), recordOf(token), kept)) as HostTokens
  }
  await endBecause(work, token, 'refresh_token_reuse')
  throw invalidGrant('The refresh token has already been used. The access was ended.')
}

/** Loads a grant that is still live, by the same checks as every request. @throws `invalid_grant`, `installation_suspended` */
const loadLive = async (
  work: Work,
  { workspace_id, grant_id }: Pick<HostCode, 'workspace_id' | 'grant_id'>,
): Promise<Principal> => {
  const grant = await work.table.get(HostGrantEntity, { workspace_id, id: grant_id })
  try {
    if (grant) return await loadPrincipal(work, { grt: grant_id, ws: workspace_id, usr: grant.user_id })
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'unauthorized') throw error
  }
  throw invalidGrant('The access of this host has ended.')
}

type Principal = Omit<PersonPrincipal, 'expiresAt'>

const refuseOtherResource = (work: Work, grant: HostGrant, resource: string | undefined): void => {
  if (!resource || findRequestedResource(work.settings, resource) === grant.resource) return
  throw fail('invalid_target', {
    message: 'The person consented to another resource.',
    fix: 'Send the resource of the authorize request, or none.',
  })
}

/** @param narrowed scopes of the access token, if it gets fewer than the grant has */
const newPair = async (work: Work, { grant, scopes }: Principal, narrowed?: readonly string[]) => {
  const { id: grant_id, workspace_id, user_id } = grant
  const claims = { grt: grant_id, ws: workspace_id, usr: user_id, ...(narrowed && { scp: narrowed.join(' ') }) }
  const { token, expires_in } = await issueToken(work, 'person', claims, { at: grant.resource, issuer: 'connect' })
  const refresh_token = newSecretOf('hrt', workspace_id)
  const token_hash = sha256(refresh_token)
  const now = work.clock.now()
  const response: HostTokens = {
    access_token: token,
    token_type: 'Bearer',
    expires_in,
    refresh_token,
    scope: scopes.filter((scope) => (narrowed ?? grant.scopes).includes(scope)).join(' '),
  }
  const record = {
    workspace_id,
    token_hash,
    grant_id,
    client_id: grant.client.id,
    created_at: now,
    expires_at: Math.min(now + LIMITS.hostRefreshLife, grant.expires_at),
  }
  return { response, token_hash, writes: [HostRefreshTokenEntity.create(record)] }
}

/** Writes that mark a grant and its client as used. A grant that ended in the meantime issues nothing. */
const usedNow = ({ clock }: Work, grant: HostGrant, client: HostClient): Write[] => {
  const now = clock.now()
  const life = client.kind === 'registered' ? LIMITS.hostRegistrationLife : LIMITS.hostGrantLife
  return [
    HostGrantEntity.update(
      grant,
      { set: { last_used_at: now } },
      { where: { status: 'active' }, otherwise: () => invalidGrant('The access of this host has ended.') },
    ),
    HostClientEntity.update(client, { set: { expires_at: now + life } }),
  ]
}

const endBecause = async (
  work: Work,
  { workspace_id, grant_id }: Pick<HostCode, 'workspace_id' | 'grant_id'>,
  reason: EndReason,
): Promise<void> => {
  const grant = await work.table.get(HostGrantEntity, { workspace_id, id: grant_id })
  if (grant?.status === 'active') await ifUnchanged(work.table.transact(endWrites(work, grant, reason)))
}

/** Nothing: the status says everything (RFC 7009 §2.2). */
const DONE = {}

/** Handles `POST /connect/revoke` of a host: any token of a grant ends it. Unknown tokens get the same response. */
export const revokeForHost = async (work: Work, client: HostClient, token: string): Promise<object> => {
  const grant = await grantBehind(work, token)
  if (grant?.status !== 'active' || grant.client.id !== client.id) return DONE
  try {
    await work.commit(endWrites(work, grant, 'client_request'), DONE)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
  }
  return DONE
}

const grantBehind = async (work: Work, token: string): Promise<HostGrant | undefined> => {
  const place = placeOf(token)
  if (place) {
    const { workspace_id, hash: token_hash } = place
    const record = await work.table.get(HostRefreshTokenEntity, { workspace_id, token_hash })
    return record && work.table.get(HostGrantEntity, { workspace_id, id: record.grant_id })
  }
  const path = resourceIn(work, token)
  const verified = path === undefined ? undefined : await verifyToken(work, token, ['person'], [path])
  if (verified?.kind !== 'person' || !isId('workspace', verified.claims.ws)) return undefined
  return work.table.get(HostGrantEntity, { workspace_id: verified.claims.ws, id: verified.claims.grt })
}

/** Resource that an access token says it is for. Nothing is verified yet. */
const resourceIn = ({ settings }: Work, token: string): string | undefined => {
  try {
    const { aud } = decodeJwt(token)
    return typeof aud === 'string' ? findResource(settings, aud) : undefined
  } catch {
    return undefined
  }
}
