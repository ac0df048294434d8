import { iso } from '#shared/kernel/clock.ts'
import type { Account, Thread } from '#shared/work/threads/index.ts'
import type { ThreadMessage } from './entity.ts'
import type { AccountView, ThreadMessageView, ThreadView } from './schemas.ts'
import { replyUntil } from './sendable.ts'

export const presentAccount = (account: Account, connect: AccountView['connect'] = null): AccountView => ({
  id: account.id,
  kind: account.kind,
  status: account.status as AccountView['status'],
  reason: (account.reason ?? null) as AccountView['reason'],
  name: account.name,
  username: account.username ?? null,
  user_id: account.user_id ?? null,
  shared: account.shared,
  can_reply: account.can_reply,
  connect,
  created_by: account.created_by,
  created_at: iso(account.created_at),
})

export const presentThread = (account: Account, thread: Thread): ThreadView => {
  const until = replyUntil(account, thread)
  return {
    id: thread.id,
    account_id: thread.account_id,
    kind: 'private',
    title: thread.title,
    username: thread.username ?? null,
    agent:
      thread.installation_id === undefined
        ? null
        : { installation_id: thread.installation_id, name: thread.agent_name ?? '' },
    conversation_id: thread.conversation_id,
    reply_until: until === undefined ? null : iso(until),
    last_message: thread.last_message ?? null,
    last_message_at: iso(thread.last_message_at),
    created_at: iso(thread.created_at),
  }
}

const timeOrNull = (at: number | undefined): string | null => (at === undefined ? null : iso(at))

export const presentThreadMessage = (message: ThreadMessage): ThreadMessageView => ({
  id: message.id,
  chat_id: message.thread_id,
  direction: message.direction,
  status: message.status,
  author: message.author,
  text: message.text,
  content: message.content,
  caption: message.caption ?? null,
  error: message.error ?? null,
  decided_by: message.decided_by ?? null,
  run_id: message.run_id ?? null,
  edited_at: timeOrNull(message.edited_at === undefined ? undefined : message.edited_at * 1_000),
  deleted_at: timeOrNull(message.deleted_at),
  sent_at: timeOrNull(message.sent_at),
  created_at: iso(message.created_at),
})
