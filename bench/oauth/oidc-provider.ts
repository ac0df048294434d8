import { generateKeyPairSync } from 'node:crypto'
import Provider from 'oidc-provider'
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js'
import { newSecret } from '#shared/kernel/secrets.ts'
import { codeForm, introspectionForm, pkce, REDIRECT, refreshForm, SCOPES } from './forms.ts'
import { type Operation, type Prepared, type Side, type StoreUse, serveSide } from './side.ts'

const RESOURCE = 'https://platform.example/api/v1'
const HOUR_S = 3_600
const jwt = process.argv[2] === 'jwt'
const scope = SCOPES.join(' ')

const use: StoreUse = { calls: 0, reads: 0, writes: 0 }
const read = (): void => {
  use.calls++
  use.reads++
}
const write = (): void => {
  use.calls++
  use.writes++
}

/** Its own adapter in memory, counted. */
class CountedAdapter extends MemoryAdapter {
  override find(id: string) {
    read()
    return super.find(id)
  }
  override upsert(id: string, payload: object, expiresIn: number) {
    write()
    return super.upsert(id, payload, expiresIn)
  }
  override consume(id: string) {
    write()
    return super.consume(id)
  }
  override destroy(id: string) {
    write()
    return super.destroy(id)
  }
  override revokeByGrantId(grantId: string) {
    write()
    return super.revokeByGrantId(grantId)
  }
}

/** Set as the platform is: PKCE, secret in the body, rotating refresh tokens, the same lives, no ID tokens. */
const configuration = async (credentials: { client_id: string; client_secret: string }) => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', crypto.getRandomValues(new Uint8Array(32)), algorithm, false, [
    'sign',
  ])
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  return {
    adapter: CountedAdapter,
    clients: [
      {
        ...credentials,
        redirect_uris: [REDIRECT],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    clientAuthMethods: ['client_secret_post'],
    // Never used: only ID tokens would be signed with it.
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [newSecret()] },
    scopes: [...SCOPES],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    expiresWithSession: () => false,
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    ttl: { AccessToken: 2 * HOUR_S, AuthorizationCode: 300, RefreshToken: 90 * 24 * HOUR_S, Grant: 90 * 24 * HOUR_S },
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: jwt,
        ...(jwt && {
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            scope,
            audience: RESOURCE,
            accessTokenTTL: 2 * HOUR_S,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'HS256', key, kid: 'k1' } },
          }),
        }),
      },
    },
  }
}

const oidcProvider = async (baseUrl: string): Promise<Side> => {
  const credentials = { client_id: 'bench', client_secret: newSecret('cs_') }
  const provider = new Provider(baseUrl, await configuration(credentials))
  const client = await provider.Client.find(credentials.client_id)
  const resource = jwt ? { resource: RESOURCE } : {}
  let customers = 0

  const bodyOf = async (operation: Operation): Promise<string> => {
    const accountId = `customer-${++customers}`
    const grant = new provider.Grant({ accountId, clientId: credentials.client_id })
    if (jwt) grant.addResourceScope(RESOURCE, scope)
    else grant.addOIDCScope(scope)
    const granted = { accountId, client, grantId: await grant.save(), scope, ...resource }
    switch (operation) {
      case 'authorization_code': {
        const { verifier, challenge } = pkce()
        const proof = { codeChallenge: challenge, codeChallengeMethod: 'S256' }
        const code = new provider.AuthorizationCode({ ...granted, ...proof, redirectUri: REDIRECT })
        return codeForm(credentials, await code.save(), verifier)
      }
      case 'refresh_token': {
        const token = new provider.RefreshToken({ ...granted, gty: 'authorization_code', rotations: 0 })
        return refreshForm(credentials, await token.save())
      }
      case 'introspection':
        return introspectionForm(credentials, await new provider.AccessToken({ ...granted, gty: operation }).save())
    }
  }

  const prepare = async (operation: Operation, count: number): Promise<Prepared> => {
    const bodies: string[] = []
    for (let i = 0; i < count; i++) bodies.push(await bodyOf(operation))
    return { path: operation === 'introspection' ? '/token/introspection' : '/token', bodies }
  }
  return { listener: provider.callback(), use, prepare }
}

await serveSide(oidcProvider)
