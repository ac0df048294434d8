import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import type { Workspace } from './entity.ts'

/** Workspace as its agents see it. */
export const OrganizationSchema = () =>
  z
    .object({
      id: idField('ws'),
      name: z.string(),
      is_sandbox: z.boolean(),
      locale: z.string(),
      time_zone: z.string(),
      cross_agent_enabled: z.boolean().meta({ description: 'True if agents in this workspace can call each other.' }),
      created_at: time(),
    })
    .meta({ id: 'Workspace' })

export type OrganizationView = z.infer<ReturnType<typeof OrganizationSchema>>

export const presentOrganization = (workspace: Workspace): OrganizationView => ({
  id: workspace.id,
  name: workspace.name,
  is_sandbox: workspace.is_sandbox,
  locale: workspace.locale,
  time_zone: workspace.time_zone,
  cross_agent_enabled: workspace.cross_agent_enabled,
  created_at: iso(workspace.created_at),
})
