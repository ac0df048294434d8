import * as z from 'zod'

/** Message on the queue `notifications`: deliver one notification to one person. */
export const PersonMessage = z.object({
  kind: z.literal('person'),
  notification_id: z.string(),
  workspace_id: z.string(),
  user_id: z.string(),
})

export type PersonMessage = z.infer<typeof PersonMessage>
