import * as z from 'zod'
import { HOST_SCOPES } from '#shared/kernel/host-resources.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import type { Settings } from '#shared/kernel/settings.ts'

type Base = Pick<Settings, 'baseUrl'>

/** Authorization server metadata (RFC 8414 §2, RFC 9207 §3). Advertises only what is implemented. */
export const authorizationServerMetadata = ({ baseUrl }: Base) => ({
  issuer: baseUrl,
  authorization_endpoint: `${baseUrl}/oauth/authorize`,
  token_endpoint: `${baseUrl}/oauth/token`,
  revocation_endpoint: `${baseUrl}/oauth/revoke`,
  introspection_endpoint: `${baseUrl}/oauth/introspect`,
  scopes_supported: [...SCOPE_NAMES],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['client_secret_post'],
  revocation_endpoint_auth_methods_supported: ['client_secret_post'],
  introspection_endpoint_auth_methods_supported: ['client_secret_post'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${baseUrl}/docs`,
})

const CLIENT_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']

/** Methods where people's hosts, whose ids may be public, come as well. */
const HOST_METHODS = ['client_secret_basic', 'client_secret_post', 'none', 'private_key_jwt']

/** Algorithms of assertions that are advertised. Others of the same kinds of keys work, too. */
const SIGNING_ALGORITHMS = ['ES256', 'RS256', 'PS256', 'EdDSA']

/** Metadata of the second issuer, which follows the RFCs strictly (contract/connect.md). */
export const connectMetadata = ({ baseUrl, hostRegistration }: Base & Pick<Settings, 'hostRegistration'>) => ({
  ...authorizationServerMetadata({ baseUrl }),
  issuer: `${baseUrl}/connect`,
  authorization_endpoint: `${baseUrl}/connect/authorize`,
  token_endpoint: `${baseUrl}/connect/token`,
  revocation_endpoint: `${baseUrl}/connect/revoke`,
  introspection_endpoint: `${baseUrl}/connect/introspect`,
  pushed_authorization_request_endpoint: `${baseUrl}/connect/par`,
  ...(hostRegistration && { registration_endpoint: `${baseUrl}/connect/register` }),
  token_endpoint_auth_methods_supported: HOST_METHODS,
  token_endpoint_auth_signing_alg_values_supported: SIGNING_ALGORITHMS,
  revocation_endpoint_auth_methods_supported: HOST_METHODS,
  revocation_endpoint_auth_signing_alg_values_supported: SIGNING_ALGORITHMS,
  introspection_endpoint_auth_methods_supported: CLIENT_METHODS,
  introspection_endpoint_auth_signing_alg_values_supported: SIGNING_ALGORITHMS,
  client_id_metadata_document_supported: true,
  protected_resources: [`${baseUrl}/api/v1`, `${baseUrl}/mcp`, `${baseUrl}/a2a`],
})

/**
 * The same where OpenID Connect Discovery looks, with the members that it requires: strict clients refuse a document without them.
 * There are no ID tokens, and no scope `openid`.
 */
export const openIdMetadata = (settings: Parameters<typeof connectMetadata>[0]) => ({
  ...connectMetadata(settings),
  jwks_uri: `${settings.baseUrl}/.well-known/jwks.json`,
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
})

export const AuthorizationServerMetadataSchema = () =>
  z
    .looseObject({
      issuer: z.string(),
      authorization_endpoint: z.string(),
      token_endpoint: z.string(),
      revocation_endpoint: z.string(),
      introspection_endpoint: z.string(),
      scopes_supported: z.array(z.string()),
      response_types_supported: z.array(z.string()),
      response_modes_supported: z.array(z.string()),
      grant_types_supported: z.array(z.string()),
      token_endpoint_auth_methods_supported: z.array(z.string()),
      revocation_endpoint_auth_methods_supported: z.array(z.string()),
      introspection_endpoint_auth_methods_supported: z.array(z.string()),
      code_challenge_methods_supported: z.array(z.string()),
      authorization_response_iss_parameter_supported: z.boolean(),
      service_documentation: z.string(),
    })
    .meta({ id: 'AuthorizationServerMetadata', description: 'RFC 8414' })

/**
 * Protected resource metadata (RFC 9728 §2): the servers whose tokens `/api/v1` accepts, first the one for standard clients, which are
 * the ones that read it. Clients request every scope that is listed, so these are the harmless ones.
 */
export const protectedResourceMetadata = ({ baseUrl }: Base) => ({
  resource: baseUrl,
  authorization_servers: [`${baseUrl}/connect`, baseUrl],
  scopes_supported: [...HOST_SCOPES],
  bearer_methods_supported: ['header'],
  resource_documentation: `${baseUrl}/docs`,
})

/** The same for a resource of hosts: the server that people's hosts sign in at. @param path such as `/mcp` */
export const hostResourceMetadata = ({ baseUrl, brand }: Pick<Settings, 'baseUrl' | 'brand'>, path: string) => ({
  resource: baseUrl + path,
  resource_name: brand.name,
  authorization_servers: [`${baseUrl}/connect`],
  scopes_supported: [...HOST_SCOPES],
  bearer_methods_supported: ['header'],
  resource_documentation: `${baseUrl}/docs/guides/assistants`,
})

export const ProtectedResourceMetadataSchema = () =>
  z
    .looseObject({
      resource: z.string(),
      authorization_servers: z.array(z.string()),
      scopes_supported: z.array(z.string()),
      bearer_methods_supported: z.array(z.string()),
      resource_documentation: z.string(),
    })
    .meta({ id: 'ProtectedResourceMetadata', description: 'RFC 9728' })
