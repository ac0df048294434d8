import {
  AuthorizationServerMetadataSchema,
  authorizationServerMetadata,
  connectMetadata,
  hostResourceMetadata,
  ProtectedResourceMetadataSchema,
  protectedResourceMetadata,
} from '#shared/access/oauth/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { publicDocument } from '#shared/http/response.ts'
import { fail } from '#shared/kernel/errors.ts'
import { findResource } from '#shared/kernel/host-resources.ts'

const about = { group: 'docs', method: 'GET', caller: 'none', lenient: true } as const

/** Metadata at the addresses where standard OAuth clients look for it. */
export const endpoints = [
  defineEndpoint({
    ...about,
    id: 'docs.authorizationServer.read',
    path: '/.well-known/oauth-authorization-server',
    summary: 'Get the authorization server metadata (RFC 8414)',
    response: AuthorizationServerMetadataSchema,
    handler: async ({ work }) => publicDocument(authorizationServerMetadata(work.settings)),
  }),
  defineEndpoint({
    ...about,
    id: 'docs.connectServer.read',
    path: '/.well-known/oauth-authorization-server/connect',
    summary: 'Get the second issuer’s metadata (RFC 8414)',
    response: AuthorizationServerMetadataSchema,
    handler: async ({ work }) => publicDocument(connectMetadata(work.settings)),
  }),
  defineEndpoint({
    ...about,
    id: 'docs.protectedResource.read',
    path: '/.well-known/oauth-protected-resource',
    summary: 'Get the protected resource metadata (RFC 9728)',
    response: ProtectedResourceMetadataSchema,
    handler: async ({ work }) => publicDocument(protectedResourceMetadata(work.settings)),
  }),
  defineEndpoint({
    ...about,
    id: 'docs.mcpResource.read',
    path: '/.well-known/oauth-protected-resource/mcp',
    summary: 'Get the metadata of the MCP server (RFC 9728)',
    response: ProtectedResourceMetadataSchema,
    handler: async ({ work }) => publicDocument(hostResourceMetadata(work.settings, '/mcp')),
  }),
  defineEndpoint({
    ...about,
    id: 'docs.a2aResource.read',
    path: '/.well-known/oauth-protected-resource/a2a',
    summary: 'Get the metadata of the agents over A2A (RFC 9728)',
    response: ProtectedResourceMetadataSchema,
    handler: async ({ work }) => publicDocument(hostResourceMetadata(work.settings, '/a2a')),
  }),
  defineEndpoint({
    ...about,
    id: 'docs.agentResource.read',
    path: '/.well-known/oauth-protected-resource/mcp/agents/{slug}',
    params: { slug: 'text' },
    summary: 'Get the metadata of one agent’s MCP server (RFC 9728)',
    description: 'Exists for every slug that an agent may have, so that it tells nobody which are installed.',
    response: ProtectedResourceMetadataSchema,
    handler: async ({ work, params }) => {
      const path = findResource(work.settings, `${work.settings.baseUrl}/mcp/agents/${params.slug}`)
      if (path === undefined) throw fail('not_found', { message: 'No agent has such a slug.' })
      return publicDocument(hostResourceMetadata(work.settings, path))
    },
  }),
]
