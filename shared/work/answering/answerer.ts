import {
  chatRefusal,
  hasConsent,
  type Installation,
  InstallationEntity,
  isWorking,
  requireChatScopes,
} from '#shared/access/installations/index.ts'
import { loadIdentity, orchestratorOf } from '#shared/access/orchestrator/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { suspended, type Workspace } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Conversation } from '../conversations/entity.ts'
import { loadInstallation, type Speaker } from './chats.ts'

type Reading = Pick<Deps, 'table'>

/**
 * Loads the agent that the workspace chose for its main chats, if it is active and may answer conversations; undefined for
 * the orchestrator.
 */
export const loadPrimaryAgent = async (
  { table }: Reading,
  workspace: Pick<Workspace, 'id' | 'primary_installation_id' | 'denied_scopes'>,
): Promise<Installation | undefined> => {
  const { id: workspace_id, primary_installation_id: id } = workspace
  if (id === undefined) return undefined
  const installation = await table.get(InstallationEntity, { workspace_id, id })
  if (!installation || !isWorking(installation) || chatRefusal(installation, workspace)) return undefined
  const app = await table.get(AppEntity, { id: installation.app_id })
  return app && app.status !== 'suspended' ? installation : undefined
}

/**
 * Loads the agent that answers the next message. In the main chat it is the primary agent or else the orchestrator,
 * elsewhere the conversation's own agent in any state. Undefined if that agent's record is deleted.
 */
export const loadAnswerer = async (
  deps: Reading,
  { workspace, user }: Speaker,
  { kind, installation_id }: Pick<Conversation, 'kind' | 'installation_id'>,
): Promise<Installation | undefined> => {
  if (kind === 'main') {
    const primary = await loadPrimaryAgent(deps, workspace)
    return primary ?? orchestratorOf(workspace, user, (await loadIdentity(deps)).name)
  }
  return installation_id === undefined
    ? undefined
    : deps.table.get(InstallationEntity, { workspace_id: workspace.id, id: installation_id })
}

/**
 * Loads the agent that answers a person's new message, and refuses one that won't answer.
 * @throws `installation_suspended`; `access_withdrawn`; `app_suspended`; `conflict` for an agent that was uninstalled, or
 *   that may not answer conversations
 */
export const requireAnswerer = async (
  deps: Reading,
  speaker: Speaker,
  conversation: Conversation,
): Promise<Installation> => {
  const installation = await loadAnswerer(deps, speaker, conversation)
  if (!installation || installation.status === 'revoked') {
    throw fail('conflict', {
      message: 'The agent of this conversation is no longer installed.',
      fix: 'Install it again and start a new conversation with it.',
    })
  }
  if (conversation.kind !== 'main') return requireSpeaker(deps, speaker, installation)
  if (installation.status === 'suspended') throw suspended()
  if (!hasConsent(installation)) throw fail('access_withdrawn')
  return installation
}

/**
 * Loads the agent that a message mentions, and refuses one that won't answer.
 * @throws `not_found` also for another workspace's installation and an uninstalled agent; otherwise as {@link requireAnswerer}
 */
export const requireMentioned = async (deps: Reading, speaker: Speaker, id: string): Promise<Installation> => {
  const installation = await loadInstallation(deps, speaker.workspace, id)
  if (installation.status === 'revoked') throw fail('not_found', { message: 'Installation not found.' })
  return requireSpeaker(deps, speaker, installation)
}

const requireSpeaker = async (deps: Reading, speaker: Speaker, installation: Installation): Promise<Installation> => {
  if (installation.status === 'suspended') throw suspended()
  if (!hasConsent(installation)) throw fail('access_withdrawn')
  const app = await deps.table.get(AppEntity, { id: installation.app_id })
  if (app?.status === 'suspended') throw fail('app_suspended')
  requireChatScopes(installation, speaker.workspace)
  return installation
}

/** Returns the agent that takes part from a message on; undefined if it is the current one. */
export const newParticipant = (
  { kind, installation_id }: Pick<Conversation, 'kind' | 'installation_id'>,
  answerer: Installation,
  since: number,
): Pick<Conversation, 'installation_id' | 'installation_since'> | undefined =>
  kind === 'main' && installation_id !== answerer.id
    ? { installation_id: answerer.id, installation_since: since }
    : undefined
