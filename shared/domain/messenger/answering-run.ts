import { AppEntity } from '../../entities/apps.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import type { Account, Dialog, DialogMessage } from '../../entities/messenger.ts'
import { WorkspaceEntity } from '../../entities/people.ts'
import { covers } from '../../kernel/scopes.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { newRun } from '../runs/start.ts'
import { MESSENGER_TRIGGER } from '../runs/tell.ts'
import { privateTo } from './accounts.ts'

/**
 * The run of the agent that has the chat, for the transaction of an incoming message: nothing where there is no agent, or
 * one that is not to work now. What people outside write is `external` (decisions §5), and the run has the conversation
 * attached.
 * @throws the writes: `too_many_active_runs`
 */
export const answeringRun = async (
  work: Work,
  account: Account,
  { workspace_id, installation_id }: Dialog,
  { id, conversation_id, text, author }: DialogMessage,
): Promise<Write[]> => {
  if (installation_id === undefined) return []
  const [installation, workspace] = await work.table.getAll([
    { entity: InstallationEntity, key: InstallationEntity.key({ workspace_id, id: installation_id }) },
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspace_id }) },
  ] as const)
  if (installation?.status !== 'active' || workspace?.status !== 'active') return []
  if (!covers(installation.scopes, 'chat:read') || workspace.denied_scopes.includes('chat:read')) return []
  const app = await work.table.get(AppEntity, { id: installation.app_id })
  if (!app || app.status === 'suspended') return []
  const { writes } = await newRun(work, {
    installation,
    input: { text, message: { id, author }, conversation_id },
    trigger: MESSENGER_TRIGGER,
    chain: { audience: 'external' },
    conversation_id,
    private_to: privateTo(account),
  })
  return writes
}
