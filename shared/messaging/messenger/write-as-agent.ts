import type { Installation } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { scopeRefusal, type Workspace } from '#shared/identity/people/index.ts'
import {
  loadAttachments,
  loadConversationAsAgent,
  type MessageView,
  newMessage,
  presentMessage,
} from '#shared/work/conversations/index.ts'
import { type Run, signOfLife } from '#shared/work/runs/index.ts'
import { draftAsAgent } from './draft-as-agent.ts'

export interface WritingAgent {
  installation: Installation
  app: { name: string }
  workspace: Pick<Workspace, 'denied_scopes' | 'primary_installation_id'>
  scopes: readonly string[]
  run: Run | undefined
}

/**
 * Writes an agent's message to one of its conversations.
 * @throws `not_found`; `insufficient_scope`, `scope_denied_by_admin` for attachments without `files:read`;
 *   `validation_error` for a missing file or one that isn't uploaded yet; `run_already_finished`
 */
export const writeAsAgent = async (
  work: Work,
  { installation, app, workspace, scopes, run }: WritingAgent,
  conversationId: string,
  { text, attachments: fileIds }: { text: string; attachments: readonly string[] },
): Promise<MessageView> => {
  const refusal = fileIds.length > 0 && scopeRefusal('files:read', { scopes, workspace }, 'Attaching a file')
  if (refusal) throw refusal
  const [conversation, attachments] = await Promise.all([
    loadConversationAsAgent(work, { installation, workspace }, conversationId),
    loadAttachments(work, installation.workspace_id, fileIds),
  ])
  if (conversation.kind === 'person') {
    return draftAsAgent(work, conversation, { installation, app, run }, { text, attachments: fileIds })
  }
  const author = { type: 'agent' as const, id: installation.id, name: app.name }
  const { message, writes } = newMessage(work, conversation, { author, text, attachments, run_id: run?.id })
  const view = presentMessage(message)
  await work.commit([...writes, ...(run ? [signOfLife(work, run)] : [])], view)
  return view
}
