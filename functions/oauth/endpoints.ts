import type { Endpoint } from '#shared/http/endpoint.ts'
import { authorizeEndpoints } from './authorize.ts'
import { consentEndpoints } from './consent.ts'
import { consentPageEndpoints } from './consent-pages.ts'
import { discoveryEndpoints } from './discovery.ts'
import { presentedTokenEndpoints } from './presented-token.ts'
import { tokenEndpoints } from './tokens.ts'

export const endpoints: Endpoint[] = [
  ...authorizeEndpoints,
  ...tokenEndpoints,
  ...presentedTokenEndpoints,
  ...discoveryEndpoints,
  ...consentPageEndpoints,
  ...consentEndpoints,
]
