import { AuthorizationServerMetadataSchema, authorizationServerMetadata } from '#shared/access/oauth/index.ts'
import { presentScope, ScopeSchema } from '#shared/foundation/schemas/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { wholeList } from '#shared/http/paging.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'

const scopes = defineEndpoint({
  id: 'oauth.scopes.list',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/scopes',
  caller: 'none',
  lenient: true,
  summary: 'List all scopes as the consent page describes them',
  list: 'page',
  response: ScopeSchema,
  handler: async () => wholeList(SCOPE_NAMES.map(presentScope)),
})

const metadata = defineEndpoint({
  id: 'oauth.metadata.read',
  group: 'oauth',
  method: 'GET',
  path: '/oauth/metadata',
  caller: 'none',
  lenient: true,
  summary: 'Get the authorization server metadata (RFC 8414)',
  response: AuthorizationServerMetadataSchema,
  handler: async ({ work }) => authorizationServerMetadata(work.settings),
})

export const endpoints = [scopes, metadata]
