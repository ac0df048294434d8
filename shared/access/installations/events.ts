import * as z from 'zod'
import type { EventDefinitions } from '#shared/foundation/outbox/index.ts'

const installation = () => ({
  installation_id: z.string(),
  app_id: z.string(),
  status: z.string(),
  scopes: z.array(z.string()),
  reason: z.literal('access_withdrawn').optional().meta({ description: 'The last consent to the app ended.' }),
})

/** Events of installations (contract/events-and-webhooks.md#event-types). */
export const INSTALLATION_EVENTS = {
  'installation.created': {
    audience: 'workspace',
    scope: 'workspace:read',
    when: 'An app was installed into the workspace.',
    data: () => z.object(installation()),
  },
  'installation.updated': {
    audience: 'workspace',
    scope: 'workspace:read',
    when: 'An installation’s scopes, version or status changed, or its access was withdrawn.',
    data: () => z.object(installation()),
  },
  'installation.removed': {
    audience: 'workspace',
    scope: 'workspace:read',
    when: 'An app was uninstalled from the workspace.',
    data: () => z.object(installation()),
  },
  'access.withdrawn': {
    audience: 'internal',
    when: 'The last consent to an installed app ended.',
    data: () => z.object({ installation_id: z.string() }),
  },
} as const satisfies EventDefinitions

export type InstallationEventType = keyof typeof INSTALLATION_EVENTS
