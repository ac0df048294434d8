import { allowsCaller, type Installation, InstallationEntity, isWorking } from '#shared/access/installations/index.ts'
import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Manifest } from '#shared/catalogue/manifests/index.ts'
import { loadManifests } from '#shared/catalogue/versions/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import type { FoundAgent } from './declared-tool.ts'

/** Most agents of a workspace that are read, as for a call between agents. One query reads them. */
const MOST_AGENTS = 500

type Callable = Pick<Installation, 'app_id' | 'version_id' | 'app_slug'>

/** Most workspaces whose agents a function remembers. */
const MOST_REMEMBERED = 200

/**
 * Agents of a workspace at the last read. Their apps and manifests are read again together with the installations, so that a
 * list takes one round trip. What has changed since takes another.
 */
const remembered = new Map<string, readonly Callable[]>()

const remember = (workspaceId: string, agents: readonly Callable[]): void => {
  remembered.delete(workspaceId)
  remembered.set(
    workspaceId,
    agents.map(({ app_id, version_id, app_slug }) => ({ app_id, version_id, app_slug })),
  )
  const [oldest] = remembered.keys()
  if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
}

/**
 * Lists the agents that the caller could call with `ask_agent`, by slug. It takes one query and one batch read, at the same
 * time if this function has listed the workspace's agents before. Manifests above 16 KiB are read from the bucket.
 * @param caller a person has no installation: the switch and policies are about calls between agents
 * @param slug lists this agent only
 */
export const listCallableAgents = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  { installation: caller, workspace }: { installation?: Installation; workspace: Workspace },
  slug?: string,
): Promise<FoundAgent[]> => {
  if (caller && !workspace.cross_agent_enabled) return []
  const isNamed = ({ app_slug }: Callable) => slug === undefined || app_slug === slug
  const others = (remembered.get(workspace.id) ?? []).filter(({ app_id }) => app_id !== caller?.app_id)
  const [page, known] = await Promise.all([
    deps.table.query(InstallationEntity, { workspace_id: workspace.id }, { limit: MOST_AGENTS }),
    loadParts(deps, others.filter(isNamed)),
  ])
  const working = page.items.filter(isWorking)
  remember(workspace.id, working)
  const callable = working.filter(
    (one) => one.id !== caller?.id && (!caller || allowsCaller(one, caller)) && isNamed(one),
  )
  const parts = new Map([...known, ...(await loadParts(deps, callable, known))])
  const agents = callable.flatMap((installation): FoundAgent[] => {
    const { app, manifest } = parts.get(installation.version_id) ?? {}
    return app && manifest && app.status !== 'suspended' ? [{ installation, app, tools: manifest.tools ?? [] }] : []
  })
  return agents.sort((a, b) => (a.app.slug < b.app.slug ? -1 : 1))
}

type Parts = ReadonlyMap<string, { app: App | undefined; manifest: Manifest | undefined }>

/** Loads the apps and manifests of agents, by version, but for those that are known. */
const loadParts = async (
  deps: Pick<Deps, 'table' | 'objects'>,
  agents: readonly Callable[],
  known: Parts = new Map(),
): Promise<Parts> => {
  const wanted = agents.filter(({ version_id }) => !known.has(version_id))
  if (wanted.length === 0) return new Map()
  const [apps, manifests] = await Promise.all([
    deps.table.getAll(wanted.map(({ app_id }) => AppEntity.ref({ id: app_id }))),
    loadManifests(
      deps,
      wanted.map(({ app_id, version_id }) => ({ app_id, id: version_id })),
    ),
  ])
  return new Map(wanted.map(({ version_id }, i) => [version_id, { app: apps[i], manifest: manifests[i] }]))
}
