import * as z from 'zod'
import type { Installation } from '../../entities/installations.ts'
import { iso } from '../../kernel/clock.ts'
import { idField, time } from '../fields.ts'

/** An installation as people of its workspace see it. */
export const installationSchema = () =>
  z
    .object({
      id: idField('ins'),
      status: z.enum(['active', 'suspended', 'revoked']),
      app: z.object({ id: idField('app'), slug: z.string(), name: z.string() }),
      agent: z.object({
        id: z.string().meta({ example: 'acme.stock-agent' }),
        version: z.string().meta({ example: '1.0.0' }),
      }),
      scopes: z.array(z.string()).meta({ description: 'What the latest consent granted.' }),
      is_sandbox: z.boolean(),
      owner: z.object({ id: z.string(), name: z.string() }),
      allowed_callers: z.array(z.string()).nullable().meta({ description: 'Agents that may call it; null for all.' }),
      denied_tools: z.array(z.string()),
      created_at: time(),
      updated_at: time(),
    })
    .meta({ id: 'Installation' })

export type InstallationView = z.infer<ReturnType<typeof installationSchema>>

export const presentInstallation = (installation: Installation): InstallationView => ({
  id: installation.id,
  status: installation.status,
  app: { id: installation.app_id, slug: installation.app_slug, name: installation.app_name },
  agent: { id: installation.agent_id, version: installation.version },
  scopes: installation.scopes,
  is_sandbox: installation.is_sandbox,
  owner: installation.owner,
  allowed_callers: installation.allowed_callers,
  denied_tools: installation.denied_tools,
  created_at: iso(installation.created_at),
  updated_at: iso(installation.updated_at),
})
