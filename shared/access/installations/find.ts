import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { scopeRefusal, type Workspace } from '#shared/identity/people/index.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { quoteName } from '#shared/kernel/names.ts'
import { eachPage } from '#shared/table/pages.ts'
import { type Installation, InstallationEntity } from './entity.ts'
import { hasConsent, isWorking, mayUse } from './scopes.ts'

/** An active agent of a workspace. */
export interface Agent {
  installation: Installation
  app: App
}

/** Most agents of a workspace that are read, far more than any workspace installs. */
const MOST_AGENTS = 500
const PAGE = 100

/** Lists the agents of a workspace that work: not suspended, and with a live consent. */
export const listActiveAgents = async ({ table }: Pick<Deps, 'table'>, workspaceId: string): Promise<Agent[]> => {
  const agents: Agent[] = []
  let seen = 0
  for await (const installations of eachPage((after) =>
    table.query(InstallationEntity, { workspace_id: workspaceId }, { limit: PAGE, after }),
  )) {
    const active = installations.filter(isWorking)
    const apps = await table.getAll(active.map(({ app_id }) => AppEntity.ref({ id: app_id })))
    for (const [i, installation] of active.entries()) {
      const app = apps[i]
      if (app && app.status !== 'suspended') agents.push({ installation, app })
    }
    seen += PAGE
    if (seen >= MOST_AGENTS) break
  }
  return agents
}

/** Reports whether the owner's policy lets this agent be called by the caller (contract/installations.md#policy). */
export const allowsCaller = (
  { allowed_callers }: Pick<Installation, 'allowed_callers'>,
  caller: Pick<Installation, 'app_slug'>,
): boolean => allowed_callers === null || allowed_callers.includes(caller.app_slug)

/** Reports whether this agent may read tasks, and so can get them (contract/agent-to-agent.md#delegating-a-task). */
export const canTakeTasks = (
  installation: Pick<Installation, 'scopes'>,
  workspace: Pick<Workspace, 'denied_scopes'>,
): boolean => mayUse(installation, workspace, 'tasks:read')

/**
 * Returns why this agent may not answer people in a chat or a messenger thread now; undefined if it may. It needs both
 * scopes: what people write is its input, and its output is a message (contract/tasks-files-conversations.md#chats).
 */
export const chatRefusal = (
  { scopes }: Pick<Installation, 'scopes'>,
  workspace: Pick<Workspace, 'denied_scopes'>,
): PlatformError | undefined =>
  scopeRefusal('chat:read', { scopes, workspace }, 'Answering a conversation') ??
  scopeRefusal('chat:write', { scopes, workspace }, 'Answering a conversation')

/** Refuses an agent that may not answer people. @throws `access_withdrawn`; `conflict`, naming the scope */
export const requireChatScopes = (
  installation: Pick<Installation, 'scopes' | 'withdrawn_at'>,
  workspace: Pick<Workspace, 'denied_scopes'>,
): void => {
  if (!hasConsent(installation)) throw fail('access_withdrawn')
  const refusal = chatRefusal(installation, workspace)
  if (!refusal) return
  throw fail('conflict', {
    message: `The agent can’t answer conversations. ${refusal.message}`,
    fix: 'Grant the agent the scopes chat:read and chat:write, and lift a ban of them, or choose another agent.',
    details: refusal.details,
  })
}

/**
 * Finds the other agent that a call names: by slug, else by the exact name under which it was installed
 * (contract/agent-to-agent.md#naming-an-agent). A later name of the app doesn't count, so that a renamed app can't take
 * another agent's calls. Partial names don't match. A person who calls has no installation. `details.available` lists the agents that the caller may call.
 * @throws `unknown_agent`; `ambiguous_agent` when several agents have the name
 */
export const findAgent = (agents: readonly Agent[], caller: Installation | undefined, named: string): Agent => {
  const others = agents.filter(({ installation }) => installation.id !== caller?.id)
  const bySlug = others.find(({ app }) => app.slug === named)
  if (bySlug) return bySlug
  const byName = others.filter(({ installation }) => installation.app_name === named.normalize('NFC'))
  if (byName.length > 1) {
    throw fail('ambiguous_agent', {
      message: `${byName.length} agents have the name ${quoteName(named)}: ${byName.map(({ app }) => app.slug).join(', ')}.`,
      fix: `Use the slug of the one you mean: ${byName.map(({ app }) => app.slug).join(' or ')}.`,
      details: { available: byName.map(shown) },
    })
  }
  const [found] = byName
  if (found) return found
  throw fail('unknown_agent', {
    message: 'No other agent of the workspace has this slug or exact name.',
    details: {
      available: others.filter(({ installation }) => !caller || allowsCaller(installation, caller)).map(shown),
    },
  })
}

const shown = ({ app, installation }: Agent) => ({ slug: app.slug, name: installation.app_name })
