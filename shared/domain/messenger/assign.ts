import { ConversationEntity, conversationPlace } from '../../entities/conversations.ts'
import { type Installation, InstallationEntity } from '../../entities/installations.ts'
import { DialogEntity } from '../../entities/messenger.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { covers } from '../../kernel/scopes.ts'
import { exists, missing } from '../../table/expressions.ts'
import { auditPerson } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import { tryAgain } from '../try-again.ts'
import type { Asker } from './accounts.ts'
import { chatOf } from './chats.ts'
import { presentChat } from './present.ts'
import type { ChatView } from './schemas.ts'

/**
 * Puts an agent onto a chat in place of the one before, or takes it off. The one before sees nothing of it any more; the new
 * one sees the whole chat.
 * @throws `not_found`; `conflict` for an agent that cannot
 */
export const assignAgent = (work: Work, asker: Asker, chatId: string, agentId: string | null): Promise<ChatView> =>
  tryAgain(async () => {
    const { account, dialog } = await chatOf(work, asker, chatId)
    const agent = agentId === null ? undefined : await agentIn(work, asker.workspace.id, agentId)
    const changed = { ...dialog, installation_id: agent?.id, agent_name: agent?.app_name }
    const { installation_id, agent_name, conversation_id: id, workspace_id } = changed
    const view = presentChat(account, changed)
    const where = { installation_id: dialog.installation_id ?? missing }
    await work.commit(
      [
        DialogEntity.update(dialog, { set: { installation_id, agent_name } }, { where: { id: exists, ...where } }),
        ConversationEntity.update(
          { workspace_id, id },
          { set: { installation_id }, list: conversationPlace({ ...changed, id }) ?? null },
          { where },
        ),
        auditPerson(
          work,
          { workspaceId: workspace_id, userId: asker.user.id },
          'messenger.agent_assigned',
          { type: 'messenger_chat', id: dialog.id },
          { before: dialog.installation_id ?? null, after: installation_id ?? null },
        ),
      ],
      view,
    )
    return view
  })

const agentIn = async ({ table }: Work, workspace_id: string, id: string): Promise<Installation> => {
  const agent = isId('installation', id) ? await table.get(InstallationEntity, { workspace_id, id }) : undefined
  if (!agent || agent.status === 'revoked') {
    throw fail('validation_error', {
      message: 'There is no such agent in the workspace.',
      details: { fields: { installation_id: ['is no installed agent'] } },
    })
  }
  if (covers(agent.scopes, 'chat:read') && covers(agent.scopes, 'chat:write')) return agent
  throw fail('conflict', {
    message: 'The agent may not read and write chats.',
    fix: 'Grant it chat:read and chat:write, or choose another agent.',
  })
}
