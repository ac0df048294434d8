import type { Endpoint } from '#shared/http/endpoint.ts'
import { accountEndpoints } from './account.ts'
import { appEndpoints } from './apps.ts'
import { sandboxEndpoints } from './sandbox.ts'
import { versionEndpoints } from './versions.ts'

export const endpoints: Endpoint[] = [...accountEndpoints, ...appEndpoints, ...versionEndpoints, ...sandboxEndpoints]
