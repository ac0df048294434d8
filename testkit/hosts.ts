import { type HostGrant, HostGrantEntity } from '#shared/access/hosts/entity.ts'
import { issueToken } from '#shared/foundation/tokens/tokens.ts'
import { MemberEntity } from '#shared/identity/people/entity.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { HOST_SCOPES } from '#shared/kernel/host-resources.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { formOf, pkce } from './oauth.ts'
import type { TestPlatform } from './platform.ts'

/** Connects a host to a person's workspace, as a consent and a code would, and returns their token for a resource. */
export const hostToken = async (
  deps: TestPlatform['deps'],
  { workspaceId, userId }: { workspaceId: string; userId: string },
  { resource = '/mcp', scopes = [...HOST_SCOPES], ...changes }: Partial<HostGrant> = {},
): Promise<{ token: string; grant: HostGrant }> => {
  const now = deps.clock.now()
  const member = await deps.table.get(MemberEntity, { workspace_id: workspaceId, user_id: userId })
  const grant: HostGrant = {
    ...stampOf(newId('grant', now)),
    workspace_id: workspaceId,
    user_id: userId,
    client: { id: 'https://host.example/client.json', name: 'Assistant', host: 'host.example' },
    resource,
    scopes,
    member_since: member?.joined_at ?? 0,
    status: 'active',
    expires_at: now + 180 * DAY,
    ...changes,
  }
  await deps.table.transact([HostGrantEntity.create(grant)])
  const claims = { grt: grant.id, ws: workspaceId, usr: userId }
  return { token: (await issueToken(deps, 'person', claims, { at: resource, issuer: 'connect' })).token, grant }
}

export const HOST_REDIRECT = 'https://assistant.example/callback'

/** Actions of a host, a person and a browser around `/connect`. */
export const hostActors = (platform: TestPlatform) => {
  const post = (path: string, fields: Record<string, string>) => platform.call('POST', path, formOf(fields))

  const register = async (changes: object = {}): Promise<string> => {
    const body = { client_name: 'Assistant', redirect_uris: [HOST_REDIRECT], ...changes }
    return (await platform.call('POST', '/connect/register', { body })).body.client_id
  }

  const authorizePath = (clientId: string, changes: Record<string, string | undefined> = {}): string => {
    const parameters = {
      client_id: clientId,
      redirect_uri: HOST_REDIRECT,
      response_type: 'code',
      code_challenge: pkce().challenge,
      code_challenge_method: 'S256',
      state: 'st/ate?&=é',
      ...changes,
    }
    const given = Object.entries(parameters).filter((one): one is [string, string] => one[1] !== undefined)
    return `/connect/authorize?${new URLSearchParams(given)}`
  }

  const authorize = (clientId: string, changes: Record<string, string | undefined> = {}) =>
    platform.call('GET', authorizePath(clientId, changes))

  const link = async (clientId: string, changes: Record<string, string | undefined> = {}): Promise<string> =>
    new URL((await authorize(clientId, changes)).headers.location ?? '').searchParams.get('tg') ?? ''

  const open = (token: string, tg: string) => platform.call('GET', `/connect/consent/request?tg=${tg}`, { token })
  const decide = (token: string, tg: string, body: object = {}) =>
    platform.call('POST', '/connect/consent/decision', { token, body: { tg, decision: 'approve', ...body } })

  /** Goes from the authorize request to a code, for a person with a console token. */
  const consented = async (
    clientId: string,
    token: string,
    changes: Record<string, string | undefined> = {},
    decision: object = {},
  ) => {
    const { verifier, challenge } = pkce()
    const tg = await link(clientId, { code_challenge: challenge, ...changes })
    const back = new URL((await decide(token, tg, decision)).body.redirect_to)
    return { tg, back, verifier, code: back.searchParams.get('code') ?? '' }
  }

  const exchange = (clientId: string, fields: Record<string, string>) =>
    post('/connect/token', { client_id: clientId, ...fields })
  const redeem = (clientId: string, { code, verifier }: { code: string; verifier: string }, changes = {}) =>
    exchange(clientId, {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: HOST_REDIRECT,
      ...changes,
    })
  const refresh = (clientId: string, refresh_token: string, changes = {}) =>
    exchange(clientId, { grant_type: 'refresh_token', refresh_token, ...changes })
  const revoke = (clientId: string, token: string) => post('/connect/revoke', { client_id: clientId, token })

  return { register, authorizePath, authorize, link, open, decide, consented, exchange, redeem, refresh, revoke }
}
