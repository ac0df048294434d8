import {
  AuthorizationServerMetadataSchema,
  authorizationServerMetadata,
  connectMetadata,
  ProtectedResourceMetadataSchema,
  protectedResourceMetadata,
} from '#shared/access/oauth/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { publicDocument } from '#shared/http/response.ts'

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
]
