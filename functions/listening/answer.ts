import { answerListened } from '#shared/domain/listening/answer.ts'
import { ListenAnswerSchema, ListenedRequestSchema } from '#shared/domain/listening/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

export const answer = defineEndpoint({
  id: 'developer.listen.answer',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/listen/{id}/answer',
  params: { id: 'listenedRequest' },
  caller: 'developer',
  summary: 'Answer a request that the listener was sent',
  description:
    'What your agent or receiver answered counts exactly as if it had come over the network; so does `failure`, where ' +
    'nothing came. The first answer wins: a second one, and one after the deadline, is `conflict`.',
  body: ListenAnswerSchema,
  // Base64 takes four bytes for three.
  maxBodyBytes: Math.ceil((LIMITS.runPayloadBytes * 4) / 3) + 64 * 1_024,
  response: ListenedRequestSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => answerListened(work, caller.developerId, params.id, body),
})
