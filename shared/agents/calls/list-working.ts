import * as z from 'zod'
import {
  canTakeTasks,
  chatRefusal,
  type Installation,
  InstallationEntity,
  isWorking,
} from '#shared/access/installations/index.ts'
import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import { logoPath, logoPathField } from '#shared/catalogue/logos/index.ts'
import { idField } from '#shared/foundation/schemas/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'

/** An agent as offered to people who assign a task. */
export const AssignableAgentSchema = () =>
  z
    .object({
      installation_id: idField('ins'),
      app_id: idField('app'),
      slug: z.string().meta({ example: 'stock-helper' }),
      name: z.string(),
      summary: z.string(),
      logo_url: z.string().nullable(),
      logo_path: logoPathField(),
      verified: z.boolean(),
      agent: z.object({ id: z.string().meta({ example: 'acme.stock-agent' }), version: z.string() }),
      takes_tasks: z
        .boolean()
        .meta({ description: 'True when it holds `tasks:read` and the workspace doesn’t ban that scope.' }),
      answers_chats: z.boolean().meta({
        description: 'True when it holds `chat:read` and `chat:write` and the workspace bans neither.',
      }),
    })
    .meta({ id: 'AssignableAgent' })

export type AssignableAgentView = z.infer<ReturnType<typeof AssignableAgentSchema>>

/**
 * Lists the working agents of a workspace, newest first, with one query and one batch read. Agents that can't work at
 * the moment are left out, so a page may hold fewer items than its limit.
 * @param all include agents that can't be assigned tasks
 */
export const listWorkingAgents = async (
  { table }: Pick<Deps, 'table'>,
  workspace: Workspace,
  all: boolean,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<AssignableAgentView>> => {
  const { items, next } = await table.query(InstallationEntity, { workspace_id: workspace.id }, options)
  const active = items.filter(
    (installation) => isWorking(installation) && (all || canTakeTasks(installation, workspace)),
  )
  const apps = await table.getAll(active.map(({ app_id }) => AppEntity.ref({ id: app_id })))
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
  logo_path: logoPath(app),
  verified: app.verified,
  agent: { id: installation.agent_id, version: installation.version },
  takes_tasks: canTakeTasks(installation, workspace),
  answers_chats: chatRefusal(installation, workspace) === undefined,
})
