import { ListenAnswerSchema, ListenedRequestSchema, recordAnswer } from '#shared/agents/outgoing/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

const answer = defineEndpoint({
  id: 'developer.listen.answer',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/listen/{id}/answer',
  params: { id: 'listenedRequest' },
  caller: 'developer',
  summary: 'Answer a request that a listener received',
  description:
    'Your agent’s or receiver’s answer counts exactly as if it had come over the network. If it didn’t answer, send ' +
    '`failure`, which counts the same way. The first answer wins: a second one, or one after the deadline, gets ' +
    '`conflict`.',
  body: ListenAnswerSchema,
  // Base64 encodes three bytes as four.
  maxBodyBytes: Math.ceil((LIMITS.runPayloadBytes * 4) / 3) + 64 * 1_024,
  response: ListenedRequestSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) => recordAnswer(work, caller.developerId, params.id, body),
})

export const endpoints = [answer]
