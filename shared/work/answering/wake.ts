import * as z from 'zod'

/** Message for `dispatch`, to advance a conversation once more. */
export const ChatMessage = () => z.object({ kind: z.literal('chat'), conversation_id: z.string() })

export const chatMessage = (conversation_id: string): z.infer<ReturnType<typeof ChatMessage>> => ({
  kind: 'chat',
  conversation_id,
})
