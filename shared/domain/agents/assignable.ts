import * as z from 'zod'
import { type App, AppEntity } from '../../entities/apps.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import type { Deps } from '../deps.ts'
import { idField } from '../fields.ts'
import { takesTasks } from './find.ts'

/** An agent as people choose it for a task. */
export const AssignableAgentSchema = () =>
  z
    .object({
      installation_id: idField('ins'),
      app_id: idField('app'),
      slug: z.string().meta({ example: 'stock-helper' }),
      name: z.string(),
      summary: z.string(),
      logo_url: z.string().nullable(),
      verified: z.boolean(),
      agent: z.object({ id: z.string().meta({ example: 'acme.stock-agent' }), version: z.string() }),
      takes_tasks: z.boolean().meta({ description: 'It holds `tasks:read`, and the organization does not ban that.' }),
    })
    .meta({ id: 'AssignableAgent' })

export type AssignableAgentView = z.infer<ReturnType<typeof AssignableAgentSchema>>

/**
 * The agents that work in a workspace, newest first: one range and one batch. What cannot work now is left out, so a page
 * may hold fewer than its limit.
 * @param all also those that cannot be given tasks
 */
export const listWorkingAgents = async (
  { table }: Pick<Deps, 'table'>,
  workspace: Workspace,
  all: boolean,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<AssignableAgentView>> => {
  const { items, next } = await table.query(InstallationEntity, { workspace_id: workspace.id }, options)
  const active = items.filter(
    (installation) => installation.status === 'active' && (all || takesTasks(installation, workspace)),
  )
  const apps = (await table.getAll(
    active.map(({ app_id }) => ({ entity: AppEntity, key: AppEntity.key({ id: app_id }) })),
  )) as (App | undefined)[]
  return {
    items: active.flatMap((installation, i) => {
      const app = apps[i]
      return app && app.status !== 'suspended' ? [present(installation, app, workspace)] : []
    }),
    next,
  }
}

const present = (installation: Installation, app: App, workspace: Workspace): AssignableAgentView => ({
  installation_id: installation.id,
  app_id: app.id,
  slug: app.slug,
  name: app.name,
  summary: app.summary,
  logo_url: app.logo_url ?? null,
  verified: app.verified,
  agent: { id: installation.agent_id, version: installation.version },
  takes_tasks: takesTasks(installation, workspace),
})
