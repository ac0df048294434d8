import {
  AuthorizationServerMetadataSchema,
  authorizationServerMetadata,
  ProtectedResourceMetadataSchema,
  protectedResourceMetadata,
} from '#shared/domain/oauth/metadata.ts'
import { RawAnswer } from '#shared/http/answer.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'

/** Read by clients in browsers too, and changed by a deployment only. */
const document = (value: object): RawAnswer =>
  new RawAnswer(
    200,
    {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    },
    JSON.stringify(value),
  )

const about = { group: 'docs', method: 'GET', caller: 'none', lenient: true } as const

/** Where standard clients look for what `/oauth/metadata` says, and for which server's tokens the API takes. */
export const wellKnownEndpoints: Endpoint[] = [
  defineEndpoint({
    ...about,
    id: 'docs.authorizationServer.read',
    path: '/.well-known/oauth-authorization-server',
    summary: 'Authorization server metadata (RFC 8414)',
    response: AuthorizationServerMetadataSchema,
    handler: async ({ work }) => document(authorizationServerMetadata(work.settings)),
  }),
  defineEndpoint({
    ...about,
    id: 'docs.protectedResource.read',
    path: '/.well-known/oauth-protected-resource',
    summary: 'Protected resource metadata (RFC 9728)',
    response: ProtectedResourceMetadataSchema,
    handler: async ({ work }) => document(protectedResourceMetadata(work.settings)),
  }),
]
