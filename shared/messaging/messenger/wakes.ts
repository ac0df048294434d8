import * as z from 'zod'

/** Message to send a thread's messages. */
export const ThreadWake = () => z.object({ kind: z.literal('thread'), workspace_id: z.string(), thread_id: z.string() })

/** Message to connect or remove an account. */
export const AccountWake = () =>
  z.object({ kind: z.literal('account'), workspace_id: z.string(), account_id: z.string() })

/** Wakes the worker to send a thread's messages. Grouped by account, so that a busy account only delays itself. */
export const threadWake = (of: { workspace_id: string; thread_id: string; account_id: string }, delayMs = 0) => {
  const { workspace_id, thread_id, account_id } = of
  const body: z.infer<ReturnType<typeof ThreadWake>> = { kind: 'thread', workspace_id, thread_id }
  return { body, delayMs, group: account_id }
}

/** Wakes the worker to connect or remove an account. */
export const accountWake = ({ workspace_id, id }: { workspace_id: string; id: string }) => {
  const body: z.infer<ReturnType<typeof AccountWake>> = { kind: 'account', workspace_id, account_id: id }
  return { body, group: id }
}
