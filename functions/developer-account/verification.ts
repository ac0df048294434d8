import { applyForVerification, readVerification } from '#shared/domain/verification/apply.ts'
import {
  ApplyForVerification,
  VerificationSchema,
  VerificationStateSchema,
} from '#shared/domain/verification/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const common = { group: 'developer', caller: 'developer', path: '/api/v1/dev/verification' } as const

const read = defineEndpoint({
  ...common,
  id: 'developer.verification.read',
  method: 'GET',
  summary: 'Read the state of the verified badge',
  response: VerificationStateSchema,
  handler: ({ work, caller }) => readVerification(work, caller.developerId),
})

const apply = defineEndpoint({
  ...common,
  id: 'developer.verification.apply',
  method: 'POST',
  summary: 'Apply for the verified badge',
  description:
    'A moderator decides: `pending` becomes `approved` or `rejected` with a reason, after which one may apply again. One ' +
    'application is open at a time; a second one is `conflict`.',
  body: ApplyForVerification,
  status: 201,
  response: VerificationSchema,
  errors: ['conflict', 'blocked_target'],
  handler: ({ work, caller, body }) => applyForVerification(work, caller.developerId, body),
})

export const verificationEndpoints = [read, apply]
