import type { Endpoint } from '#shared/http/endpoint.ts'
import { agentEndpoints } from './agents.ts'
import { analyticsEndpoints } from './analytics.ts'
import { auditEndpoints } from './audit.ts'
import { notificationEndpoints } from './notifications.ts'
import { updateEndpoints } from './updates.ts'

export const endpoints: Endpoint[] = [
  ...agentEndpoints,
  ...auditEndpoints,
  ...analyticsEndpoints,
  ...notificationEndpoints,
  ...updateEndpoints,
]
