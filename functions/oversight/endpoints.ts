import type { Endpoint } from '#shared/http/endpoint.ts'
import { auditEndpoints } from './audit.ts'
import { developerEndpoints } from './developers.ts'
import { installationEndpoints } from './installations.ts'
import { workspaceEndpoints } from './workspaces.ts'

export const endpoints: Endpoint[] = [
  ...developerEndpoints,
  ...workspaceEndpoints,
  ...installationEndpoints,
  ...auditEndpoints,
]
