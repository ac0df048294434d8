import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  ApplyForVerification,
  applyForVerification,
  loadVerification,
  VerificationSchema,
  VerificationStateSchema,
} from '#shared/moderation/verification/index.ts'

const common = { group: 'developer', caller: 'developer', path: '/api/v1/dev/verification' } as const

const read = defineEndpoint({
  ...common,
  id: 'developer.verification.read',
  method: 'GET',
  summary: 'Get the status of your verified badge',
  response: VerificationStateSchema,
  handler: ({ work, caller }) => loadVerification(work, caller.developerId),
})

const apply = defineEndpoint({
  ...common,
  id: 'developer.verification.apply',
  method: 'POST',
  summary: 'Apply for the verified badge',
  description:
    'A moderator decides: `pending` becomes `approved`, or `rejected` with a reason. After a rejection you can apply ' +
    'again. You can have one open application; a second one gets `conflict`.',
  body: ApplyForVerification,
  status: 201,
  response: VerificationSchema,
  errors: ['conflict', 'blocked_target'],
  handler: ({ work, caller, body }) => applyForVerification(work, caller.developerId, body),
})

export const endpoints = [read, apply]
