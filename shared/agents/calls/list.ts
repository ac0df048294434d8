import * as z from 'zod'
import {
  allowsCaller,
  canTakeTasks,
  type Installation,
  InstallationEntity,
  isWorking,
} from '#shared/access/installations/index.ts'
import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import { loadManifest, type Version, VersionEntity } from '#shared/catalogue/versions/index.ts'
import { cutPageToResponseSize, payloadBytes } from '#shared/foundation/payloads/index.ts'
import { idField } from '#shared/foundation/schemas/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import { portableSchema } from '#shared/kernel/json-schema/portable.ts'
import type { Page, QueryOptions } from '#shared/table/table.ts'

/** An agent of the workspace as shown to other agents. */
export const AgentSchema = () =>
  z
    .object({
      installation_id: idField('ins'),
      slug: z
        .string()
        .meta({ example: 'stock-helper', description: 'Identifies the agent in ask_agent and delegate_task.' }),
      name: z.string().meta({ description: 'Name under which it was installed, which also identifies it.' }),
      summary: z.string(),
      agent: z.object({ id: z.string(), version: z.string() }),
      status: z.enum(['active', 'suspended']),
      verified: z.boolean(),
      callable: z.boolean().meta({ description: 'True if its policy and the workspace allow you to call it.' }),
      takes_tasks: z.boolean().meta({ description: 'True if a task can be delegated to it.' }),
      tools: z
        .array(
          z.object({
            name: z.string(),
            description: z.string(),
            input_schema: z.record(z.string(), z.unknown()),
          }),
        )
        .meta({ description: 'Tools that its installed version offers to other agents.' }),
    })
    .meta({ id: 'WorkspaceAgent' })

export type AgentView = z.infer<ReturnType<typeof AgentSchema>>

export interface ListedAgent {
  installation: Installation
  app: App
  version: Version
}

/**
 * Lists the agents installed in a workspace, newest first. Uninstalled ones are left out, so a page may hold fewer
 * items than its limit.
 */
export const listAgents = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<ListedAgent>> => {
  const { items, next } = await table.query(InstallationEntity, { workspace_id: workspaceId }, options)
  const installed = items.filter(({ status }) => status !== 'revoked')
  const [apps, versions] = await Promise.all([
    table.getAll(installed.map(({ app_id }) => AppEntity.ref({ id: app_id }))),
    table.getAll(installed.map(({ app_id, version_id }) => VersionEntity.ref({ app_id, id: version_id }))),
  ])
  const agents = installed.flatMap((installation, i) => {
    const app = apps[i]
    const version = versions[i]
    return app && version ? [{ installation, app, version }] : []
  })
  return cutPageToResponseSize(
    { items: agents, next },
    ({ version }) => payloadBytes(version.manifest),
    ({ installation }) => InstallationEntity.key(installation).sk,
  )
}

/** @param caller the agent that views the list */
export const presentAgent = async (
  deps: Pick<Deps, 'objects'>,
  { installation, app, version }: ListedAgent,
  caller: { installation: Installation; workspace: Workspace },
): Promise<AgentView> => {
  const { tools = [] } = await loadManifest(deps, version)
  const active = isWorking(installation) && app.status !== 'suspended'
  const other = installation.id !== caller.installation.id
  return {
    installation_id: installation.id,
    slug: app.slug,
    name: installation.app_name,
    summary: app.summary,
    agent: { id: installation.agent_id, version: installation.version },
    status: active ? 'active' : 'suspended',
    verified: app.verified,
    callable:
      active && other && caller.workspace.cross_agent_enabled && allowsCaller(installation, caller.installation),
    takes_tasks: canTakeTasks(installation, caller.workspace),
    tools: tools.map(({ name, description, input_schema }) => ({
      name,
      description,
      input_schema: portableSchema(input_schema),
    })),
  }
}
