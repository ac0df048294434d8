import { allowsCaller, type Installation, InstallationEntity, isWorking } from '#shared/access/installations/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Manifest } from '#shared/catalogue/manifests/index.ts'
import { loadManifest, VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'

/** An agent that the caller could ask now, with the tools that its installed version declares. */
export interface AgentTools {
  slug: string
  name: string
  tools: NonNullable<Manifest['tools']>
}

/** Most agents of a workspace that are read, as for a call between agents. One query reads them. */
const MOST_AGENTS = 500

/**
 * Lists the agents that the caller could call with `ask_agent`, by slug. It takes one query and one batch read, however
 * many agents there are; manifests above 16 KiB are read from the bucket.
 * @param caller a person has no installation: the switch and policies are about calls between agents
 * @param slug lists this agent only
 */
export const listCallableAgents = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  { installation: caller, workspace }: { installation?: Installation; workspace: Workspace },
  slug?: string,
): Promise<AgentTools[]> => {
  if (caller && !workspace.cross_agent_enabled) return []
  const page = await deps.table.query(InstallationEntity, { workspace_id: workspace.id }, { limit: MOST_AGENTS })
  const callable = page.items.filter(
    (one) =>
      one.id !== caller?.id &&
      isWorking(one) &&
      (!caller || allowsCaller(one, caller)) &&
      (slug === undefined || one.app_slug === slug),
  )
  const [apps, versions] = await Promise.all([
    deps.table.getAll(callable.map(({ app_id }) => AppEntity.ref({ id: app_id }))),
    deps.table.getAll(callable.map(({ app_id, version_id }) => VersionEntity.ref({ app_id, id: version_id }))),
  ])
  const agents = await Promise.all(
    callable.map(async ({ app_name }, i): Promise<AgentTools[]> => {
      const app = apps[i]
      const version = versions[i]
      if (!app || !version || app.status === 'suspended') return []
      const { tools = [] } = await loadManifest(deps, version)
      return [{ slug: app.slug, name: app_name, tools }]
    }),
  )
  return agents.flat().sort((a, b) => (a.slug < b.slug ? -1 : 1))
}
