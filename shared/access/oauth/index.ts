export { authenticateByAssertion, authenticateClient } from './clients.ts'
export { IntrospectionSchema, introspectToken } from './introspect.ts'
export { canRepeatTokenResponse } from './kept-response.ts'
export {
  AuthorizationServerMetadataSchema,
  authorizationServerMetadata,
  connectMetadata,
  hostResourceMetadata,
  openIdMetadata,
  ProtectedResourceMetadataSchema,
  protectedResourceMetadata,
} from './metadata.ts'
export { PresentToken, tokenOf } from './present-token.ts'
export { revokeToken } from './revoke.ts'
export { newTokenPair, TokenResponseSchema } from './token-pair.ts'
export { handleTokenRequest, TokenRequest } from './token-request.ts'
