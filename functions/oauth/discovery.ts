import { AuthorizationServerMetadataSchema, authorizationServerMetadata } from '#shared/domain/oauth/metadata.ts'
import { presentScope, ScopeSchema } from '#shared/domain/oauth/scopes.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { whole } from '#shared/http/paging.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'

const scopes = defineEndpoint({
  id: 'oauth.scopes.list',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/scopes',
  caller: 'none',
  lenient: true,
  summary: 'Every scope, in the words of the consent page',
  list: 'page',
  response: ScopeSchema,
  handler: async () => whole(SCOPE_NAMES.map(presentScope)),
})

const metadata = defineEndpoint({
  id: 'oauth.metadata.read',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/metadata',
  caller: 'none',
  lenient: true,
  summary: 'Authorization server metadata (RFC 8414)',
  response: AuthorizationServerMetadataSchema,
  handler: async ({ work }) => authorizationServerMetadata(work.settings),
})

export const discoveryEndpoints = [scopes, metadata]
