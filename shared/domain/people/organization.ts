import * as z from 'zod'
import type { Workspace } from '../../entities/people.ts'
import { iso } from '../../kernel/clock.ts'
import { idField, time } from '../fields.ts'

/** What an integration knows of the workspace that it works in. */
export const OrganizationSchema = () =>
  z
    .object({
      id: idField('ws'),
      name: z.string(),
      is_sandbox: z.boolean(),
      locale: z.string(),
      time_zone: z.string(),
      cross_agent_enabled: z.boolean().meta({ description: 'Whether agents may call each other here.' }),
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
