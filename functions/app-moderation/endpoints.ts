import type { Endpoint } from '#shared/http/endpoint.ts'
import { appEndpoints } from './apps.ts'
import { messageEndpoints } from './messages.ts'
import { queueEndpoints } from './queue.ts'
import { versionEndpoints } from './versions.ts'

export const endpoints: Endpoint[] = [...queueEndpoints, ...appEndpoints, ...versionEndpoints, ...messageEndpoints]
