import type { Endpoint } from '#shared/http/endpoint.ts'
import { conversationEndpoints } from './conversations.ts'
import * as files from './files.ts'
import { organizationEndpoints } from './organization.ts'
import { taskEndpoints } from './tasks.ts'

export const endpoints: Endpoint[] = [
  ...taskEndpoints,
  ...conversationEndpoints,
  ...Object.values(files),
  ...organizationEndpoints,
]
