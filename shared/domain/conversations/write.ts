import type { Message } from '../../entities/conversations.ts'
import { FileEntity, type FileRecord } from '../../entities/files.ts'
import type { Installation } from '../../entities/installations.ts'
import type { Workspace } from '../../entities/people.ts'
import type { Run } from '../../entities/runs.ts'
import { fail } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Deps, Work } from '../deps.ts'
import { draftAsAgent } from '../messenger/draft-as-agent.ts'
import { signOfLife } from '../runs/change.ts'
import { scopeRefusal } from '../scope-refusal.ts'
import { newMessage } from './new.ts'
import { conversationOf } from './read.ts'
import { type MessageView, presentMessage } from './schemas.ts'

export interface WritingAgent {
  installation: Installation
  app: { name: string }
  workspace: Pick<Workspace, 'denied_scopes' | 'primary_installation_id'>
  scopes: readonly string[]
  run: Run | undefined
}

/**
 * An agent's message in one of its conversations.
 * @throws `not_found`; `insufficient_scope`, `scope_denied_by_admin` for attachments without `files:read`;
 *   `validation_error` for a file that is not there or not uploaded yet; `run_already_finished`
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
    conversationOf(work, { installation, workspace }, conversationId),
    attachmentsOf(work, installation.workspace_id, fileIds),
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

/** What a message shows of the files attached to it: as they are now, whatever happens to them later. */
export const attachmentsOf = async (
  { table }: Pick<Deps, 'table'>,
  workspaceId: string,
  ids: readonly string[],
): Promise<Message['attachments']> => {
  const known = ids.filter((id) => isId('file', id))
  const found = (await table.getAll(
    known.map((id) => ({ entity: FileEntity, key: FileEntity.key({ workspace_id: workspaceId, id }) })),
  )) as (FileRecord | undefined)[]
  const files = new Map(found.flatMap((file) => (file?.status === 'ready' ? [[file.id, file] as const] : [])))
  const fields: Record<string, string[]> = {}
  for (const [i, id] of ids.entries()) if (!files.has(id)) fields[`attachments.${i}`] = ['there is no such file']
  if (Object.keys(fields).length > 0) {
    throw fail('validation_error', { message: 'Some attachments are no files of the workspace.', details: { fields } })
  }
  return ids.map((id) => {
    const { name, content_type, size } = files.get(id) as FileRecord
    return { file_id: id, name, content_type, size }
  })
}
