import * as z from 'zod'
import { type App, AppEntity, type Version, VersionEntity } from '../../entities/apps.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import type { Page, QueryOptions } from '../../table/table.ts'
import { fittingPage, payloadBytes } from '../answer-size.ts'
import type { Deps } from '../deps.ts'
import { idField } from '../fields.ts'
import { loadManifest } from '../versions/manifest.ts'
import { allowsCaller, takesTasks } from './find.ts'

/** An agent of the organization as another agent sees it. */
export const AgentSchema = () =>
  z
    .object({
      installation_id: idField('ins'),
      slug: z.string().meta({ example: 'stock-helper', description: 'Names it in ask_agent and delegate_task.' }),
      name: z.string(),
      summary: z.string(),
      agent: z.object({ id: z.string(), version: z.string() }),
      status: z.enum(['active', 'suspended']),
      verified: z.boolean(),
      callable: z.boolean().meta({ description: 'Whether its owner’s policy and the organization let you call it.' }),
      takes_tasks: z.boolean().meta({ description: 'Whether a task can be delegated to it.' }),
      tools: z
        .array(
          z.object({
            name: z.string(),
            description: z.string(),
            input_schema: z.record(z.string(), z.unknown()),
          }),
        )
        .meta({ description: 'What its installed version offers to other agents.' }),
    })
    .meta({ id: 'WorkspaceAgent' })

export type AgentView = z.infer<ReturnType<typeof AgentSchema>>

export interface ListedAgent {
  installation: Installation
  app: App
  version: Version
}

/** The agents installed in a workspace, newest first. What was uninstalled is left out, so a page may hold fewer than its limit. */
export const listAgents = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  options: Pick<QueryOptions, 'limit' | 'after'>,
): Promise<Page<ListedAgent>> => {
  const { items, next } = await table.query(InstallationEntity, { workspace_id: workspaceId }, options)
  const installed = items.filter(({ status }) => status !== 'revoked')
  const [apps, versions] = await Promise.all([
    table.getAll(installed.map(({ app_id }) => ({ entity: AppEntity, key: AppEntity.key({ id: app_id }) }))),
    table.getAll(
      installed.map(({ app_id, version_id }) => ({
        entity: VersionEntity,
        key: VersionEntity.key({ app_id, id: version_id }),
      })),
    ),
  ])
  const agents = installed.flatMap((installation, i) => {
    const app = apps[i]
    const version = versions[i]
    return app && version ? [{ installation, app, version }] : []
  })
  return fittingPage(
    { items: agents, next },
    ({ version }) => payloadBytes(version.manifest),
    ({ installation }) => InstallationEntity.key(installation).sk,
  )
}

/** @param caller the agent that looks */
export const presentAgent = async (
  deps: Pick<Deps, 'objects'>,
  { installation, app, version }: ListedAgent,
  caller: { installation: Installation; workspace: Workspace },
): Promise<AgentView> => {
  const { tools = [] } = await loadManifest(deps, version)
  const active = installation.status === 'active' && app.status !== 'suspended'
  const other = installation.id !== caller.installation.id
  return {
    installation_id: installation.id,
    slug: app.slug,
    name: app.name,
    summary: app.summary,
    agent: { id: installation.agent_id, version: installation.version },
    status: active ? 'active' : 'suspended',
    verified: app.verified,
    callable:
      active && other && caller.workspace.cross_agent_enabled && allowsCaller(installation, caller.installation),
    takes_tasks: takesTasks(installation, caller.workspace),
    tools: tools.map(({ name, description, input_schema }) => ({ name, description, input_schema })),
  }
}
