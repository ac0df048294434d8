import {
  type Dialog,
  DialogEntity,
  type DialogMessage,
  dialogPlace,
  type Outgoing,
  OutgoingEntity,
} from '../../entities/messenger.ts'
import { tell } from '../../events/outbox.ts'
import { MINUTE } from '../../kernel/clock.ts'
import type { Write } from '../../table/entity.ts'
import type { Work } from '../deps.ts'

/** Puts a message at the end of what its chat has to send, and wakes the worker. */
export const queueWrites = (
  work: Work,
  dialog: Dialog,
  { id: message_id, conversation_id }: DialogMessage,
): Write[] => {
  const { id: dialog_id, workspace_id, account_id } = dialog
  const now = work.clock.now()
  const outgoing: Outgoing = {
    dialog_id,
    // Ids sort by the time they are made at: a draft's place is that of its approval.
    place: work.id('message'),
    workspace_id,
    account_id,
    conversation_id,
    message_id,
    state: 'waiting',
    attempt: 0,
    due_at: now + MINUTE,
    created_at: now,
  }
  return [
    OutgoingEntity.create(outgoing),
    tell(work.clock, { type: 'messenger.send', workspace_id, data: { workspace_id, dialog_id } }),
  ]
}

/** What lists of chats show of a message. */
const PREVIEW = 200

export const previewOf = ({ id, text, direction }: Pick<DialogMessage, 'id' | 'text' | 'direction'>) => ({
  id,
  text: [...text].slice(0, PREVIEW).join(''),
  direction,
})

/** Brings a chat to the front with its latest message. */
export const touchDialog = (
  work: Pick<Work, 'clock'>,
  dialog: Dialog,
  message: DialogMessage,
  more: Partial<Dialog> = {},
): Write => {
  const last_message_at = work.clock.now()
  return DialogEntity.update(dialog, {
    set: { ...more, last_message: previewOf(message), last_message_at },
    list: dialogPlace({ ...dialog, last_message_at }),
  })
}
