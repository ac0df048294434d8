import { type App, AppEntity } from '../../entities/apps.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import { covers } from '../../kernel/scopes.ts'
import type { Deps } from '../deps.ts'

/** An agent that is installed in a workspace and works. */
export interface Agent {
  installation: Installation
  app: App
}

/** Agents of a workspace that are looked through at most; far more than anybody installs. */
const MOST_AGENTS = 500
const PAGE = 100

/** What is installed and neither suspended, there or by the platform. */
export const agentsOf = async ({ table }: Pick<Deps, 'table'>, workspaceId: string): Promise<Agent[]> => {
  const agents: Agent[] = []
  let after: string | undefined
  for (let seen = 0; seen < MOST_AGENTS; seen += PAGE) {
    const page = await table.query(InstallationEntity, { workspace_id: workspaceId }, { limit: PAGE, after })
    const active = page.items.filter(({ status }) => status === 'active')
    const apps = (await table.getAll(
      active.map(({ app_id }) => ({ entity: AppEntity, key: AppEntity.key({ id: app_id }) })),
    )) as (App | undefined)[]
    for (const [i, installation] of active.entries()) {
      const app = apps[i]
      if (app && app.status !== 'suspended') agents.push({ installation, app })
    }
    after = page.next
    if (after === undefined) break
  }
  return agents
}

/** May this agent be called by that one, as far as its owner's policy goes (specification "Installation policy")? */
export const allowsCaller = (
  { allowed_callers }: Pick<Installation, 'allowed_callers'>,
  caller: Pick<Installation, 'id' | 'app_slug'>,
): boolean =>
  allowed_callers === null || allowed_callers.includes(caller.id) || allowed_callers.includes(caller.app_slug)

/** Can this agent be given tasks? It must be able to read them (specification "delegate_task", rule 7). */
export const takesTasks = (
  { scopes }: Pick<Installation, 'scopes'>,
  { denied_scopes }: Pick<Workspace, 'denied_scopes'>,
): boolean => covers(scopes, 'tasks:read') && !denied_scopes.includes('tasks:read')

/**
 * The other agent that a call names: by slug, else by its exact name (specification "delegate_task", rule 2). There is no
 * partial match. `details.available` lists those that the caller may call.
 * @throws `unknown_agent`; `ambiguous_agent` when several have the name
 */
export const findAgent = (agents: readonly Agent[], caller: Installation, named: string): Agent => {
  const others = agents.filter(({ installation }) => installation.id !== caller.id)
  const bySlug = others.find(({ app }) => app.slug === named)
  if (bySlug) return bySlug
  const byName = others.filter(({ app }) => app.name === named)
  if (byName.length > 1) {
    throw fail('ambiguous_agent', {
      message: `${byName.length} agents have this name.`,
      details: { available: byName.map(shown) },
    })
  }
  const [found] = byName
  if (found) return found
  throw fail('unknown_agent', {
    message: 'No other agent of the organization has this slug or exact name.',
    details: { available: others.filter(({ installation }) => allowsCaller(installation, caller)).map(shown) },
  })
}

const shown = ({ app: { slug, name } }: Agent) => ({ slug, name })
