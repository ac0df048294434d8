import { AppEntity } from '../../entities/apps.ts'
import type { Conversation } from '../../entities/conversations.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import { loadIdentity } from '../orchestrator/identity.ts'
import { orchestratorOf } from '../orchestrator/principal.ts'
import type { Speaker } from './chats.ts'

type Reading = Pick<Deps, 'table'>

/** The agent that the workspace chose for its main chats, as long as it works; undefined for the orchestrator. */
export const primaryAgent = async (
  { table }: Reading,
  { id: workspace_id, primary_installation_id: id }: Pick<Workspace, 'id' | 'primary_installation_id'>,
): Promise<Installation | undefined> => {
  if (id === undefined) return undefined
  const installation = await table.get(InstallationEntity, { workspace_id, id })
  if (installation?.status !== 'active') return undefined
  const app = await table.get(AppEntity, { id: installation.app_id })
  return app && app.status !== 'suspended' ? installation : undefined
}

/**
 * Who answers the next message: in the main chat the primary agent, or the orchestrator without one; elsewhere the chat's
 * own agent, whatever became of it. Undefined where that is gone without a trace.
 */
export const answererOf = async (
  deps: Reading,
  { workspace, user }: Speaker,
  { kind, installation_id }: Pick<Conversation, 'kind' | 'installation_id'>,
): Promise<Installation | undefined> => {
  if (kind === 'main') {
    const primary = await primaryAgent(deps, workspace)
    return primary ?? orchestratorOf(workspace, user, (await loadIdentity(deps)).name)
  }
  return installation_id === undefined
    ? undefined
    : deps.table.get(InstallationEntity, { workspace_id: workspace.id, id: installation_id })
}

/**
 * The same for a person who is about to write: nobody is to wait for an agent that will not answer.
 * @throws `installation_suspended`; `app_suspended`; `conflict` for an agent that was uninstalled
 */
export const willingAnswerer = async (
  deps: Reading,
  speaker: Speaker,
  conversation: Conversation,
): Promise<Installation> => {
  const installation = await answererOf(deps, speaker, conversation)
  if (!installation || installation.status === 'revoked') {
    throw fail('conflict', {
      message: 'The agent of this chat is not installed any more.',
      fix: 'Install it again, and open a new chat with it.',
    })
  }
  if (installation.status === 'suspended') throw fail('installation_suspended')
  if (conversation.kind === 'main') return installation
  const app = await deps.table.get(AppEntity, { id: installation.app_id })
  if (app?.status === 'suspended') throw fail('app_suspended')
  return installation
}

/** Who takes part from a message on: nothing where that is who does already. */
export const takerFrom = (
  { kind, installation_id }: Pick<Conversation, 'kind' | 'installation_id'>,
  answerer: Installation,
  since: number,
): Pick<Conversation, 'installation_id' | 'installation_since'> | undefined =>
  kind === 'main' && installation_id !== answerer.id
    ? { installation_id: answerer.id, installation_since: since }
    : undefined
