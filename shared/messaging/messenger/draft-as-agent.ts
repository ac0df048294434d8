import type { Installation } from '#shared/access/installations/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { type Conversation, type MessageView, presentMessage } from '#shared/work/conversations/index.ts'
import { type Run, signOfLife } from '#shared/work/runs/index.ts'
import { newDraft } from './draft.ts'

/**
 * `POST /api/v1/conversations/{id}/messages` in a messenger thread. The message is sent only after a person approves
 * it.
 * @throws `validation_error` for attachments or a text that is too long; `not_found`; `run_already_finished`
 */
export const draftAsAgent = async (
  work: Work,
  conversation: Conversation,
  { installation, app, run }: { installation: Installation; app: { name: string }; run: Run | undefined },
  { text, attachments }: { text: string; attachments: readonly string[] },
): Promise<MessageView> => {
  if (attachments.length > 0) {
    throw fail('validation_error', {
      message: 'Messages in a messenger thread can’t have attachments.',
      details: { fields: { attachments: ['must be empty in a messenger thread'] } },
    })
  }
  const by = { installation, name: app.name, run_id: run?.id }
  const { message, writes } = await newDraft(work, conversation, by, text)
  const view = presentMessage(message)
  await work.commit([...writes, ...(run ? [signOfLife(work, run)] : [])], view)
  return view
}
