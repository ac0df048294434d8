import { type Installation, InstallationEntity, requireChatScopes } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import type { Workspace } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import { exists, missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { ConversationEntity, conversationPlace } from '#shared/work/conversations/index.ts'
import { type AccountViewer, ThreadEntity } from '#shared/work/threads/index.ts'
import { presentThread } from './present.ts'
import type { ThreadView } from './schemas.ts'
import { loadThread } from './threads.ts'

/**
 * Assigns an agent to a thread in place of the current one, or removes it. The previous agent loses access to the
 * thread. The new agent sees all of it.
 * @throws `not_found`; `conflict` for an agent that may not answer conversations
 */
export const assignAgent = (
  work: Work,
  asker: AccountViewer & { workspace: Pick<Workspace, 'denied_scopes'> },
  chatId: string,
  agentId: string | null,
): Promise<ThreadView> =>
  retryOnConflict(async () => {
    const { account, thread } = await loadThread(work, asker, chatId)
    const agent = agentId === null ? undefined : await loadAssignable(work, asker.workspace, agentId)
    const changed = { ...thread, installation_id: agent?.id, agent_name: agent?.app_name }
    const { installation_id, agent_name, conversation_id: id, workspace_id } = changed
    const view = presentThread(account, changed)
    const where = { installation_id: thread.installation_id ?? missing }
    await work.commit(
      [
        ThreadEntity.update(thread, { set: { installation_id, agent_name } }, { where: { id: exists, ...where } }),
        ConversationEntity.update(
          { workspace_id, id },
          { set: { installation_id }, list: conversationPlace({ ...changed, id }) ?? null },
          { where },
        ),
        auditPerson(
          work,
          { workspaceId: workspace_id, userId: asker.user.id },
          'messenger.agent_assigned',
          { type: 'messenger_chat', id: thread.id },
          { before: thread.installation_id ?? null, after: installation_id ?? null },
        ),
      ],
      view,
    )
    return view
  })

const loadAssignable = async (
  { table }: Work,
  workspace: Pick<Workspace, 'id' | 'denied_scopes'>,
  id: string,
): Promise<Installation> => {
  const key = { workspace_id: workspace.id, id }
  const agent = isId('installation', id) ? await table.get(InstallationEntity, key) : undefined
  if (!agent || agent.status === 'revoked') {
    throw fail('validation_error', {
      message: 'No agent with this installation_id is installed in the workspace.',
      details: { fields: { installation_id: ['must be the id of an installed agent'] } },
    })
  }
  requireChatScopes(agent, workspace)
  return agent
}
