import type { Endpoint } from '#shared/http/endpoint.ts'
import { grantEndpoints } from './grants.ts'
import { installationEndpoints } from './installations.ts'
import * as runs from './runs.ts'
import { issueForSurface } from './surface-token.ts'

export const endpoints: Endpoint[] = [
  ...installationEndpoints,
  issueForSurface,
  ...grantEndpoints,
  ...Object.values(runs),
]
