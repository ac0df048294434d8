import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const outgoingMail = () =>
  z.object({
    id: z.string(),
    /** Sealed JSON of recipient, subject and text, which may hold a token. */
    content: z.string(),
    tries: z.number(),
    due_at: z.number().optional(),
    expires_at: z.number(),
  })

/** E-mail to send. Written with the change that causes it, and deleted once it was accepted. */
export const OutgoingMailEntity = defineEntity({
  name: 'outgoing-mail',
  schema: outgoingMail,
  pk: 'MAIL#{id}',
  sk: 'MAIL',
  personal: { text: ['content'] },
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 2 },
  due: true,
  expires: ({ expires_at }) => expires_at,
})
