import type { Conversation } from '../../entities/conversations.ts'
import type { Installation } from '../../entities/installations.ts'
import type { Run } from '../../entities/runs.ts'
import { fail } from '../../kernel/errors.ts'
import { type MessageView, presentMessage } from '../conversations/schemas.ts'
import type { Work } from '../deps.ts'
import { signOfLife } from '../runs/change.ts'
import { newDraft } from './draft.ts'

/**
 * `POST /api/v1/conversations/{id}/messages` in a messenger chat: nothing goes out before a person approves it.
 * @throws `validation_error` for what Telegram would not take, and for attachments; `not_found`; `run_already_finished`
 */
export const draftAsAgent = async (
  work: Work,
  conversation: Conversation,
  { installation, app, run }: { installation: Installation; app: { name: string }; run: Run | undefined },
  { text, attachments }: { text: string; attachments: readonly string[] },
): Promise<MessageView> => {
  if (attachments.length > 0) {
    throw fail('validation_error', {
      message: 'Messages to a messenger chat are text only.',
      details: { fields: { attachments: ['must be empty in a messenger chat'] } },
    })
  }
  const by = { installation, name: app.name, run_id: run?.id }
  const { message, writes } = await newDraft(work, conversation, by, text)
  const view = presentMessage(message)
  await work.commit([...writes, ...(run ? [signOfLife(work, run)] : [])], view)
  return view
}
