import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const platformSettings = () => z.object({ name: z.string(), denied_tools: z.array(z.string()), updated_at: z.number() })

/** Settings of the whole platform. One item, read with every tool call. */
export const PlatformSettingsEntity = defineEntity({
  name: 'platform-settings',
  schema: platformSettings,
  pk: 'PLATFORM#{name}',
  sk: 'SETTINGS',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})

const platformIdentity = () =>
  z.object({
    name: z.string(),
    display_name: z.string(),
    logo_url: z.string().optional(),
    /** Image that the platform fetched from a logo's address, named by the SHA-256 of its bytes. */
    logo: z.object({ url: z.string(), hash: z.string() }).optional(),
    /** Rule of behavior that is added to the orchestrator's system prompt. */
    policy: z.string().optional(),
    updated_at: z.number(),
  })

/** Identity of the platform's orchestrator. One item, read with each of its turns. */
export const PlatformIdentityEntity = defineEntity({
  name: 'platform-identity',
  schema: platformIdentity,
  pk: 'PLATFORM#{name}',
  sk: 'IDENTITY',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
})
