import type { Endpoint } from '#shared/http/endpoint.ts'
import { authorizeEndpoints } from './authorize.ts'
import { consentEndpoints } from './consent.ts'
import { discoveryEndpoints } from './discovery.ts'
import { tokenEndpoints } from './tokens.ts'

export const endpoints: Endpoint[] = [
  ...authorizeEndpoints,
  ...tokenEndpoints,
  ...discoveryEndpoints,
  ...consentEndpoints,
]
