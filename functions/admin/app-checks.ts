import { defineEndpoint } from '#shared/http/endpoint.ts'
import { checkSubmission, checksQuery, SubmissionChecksSchema } from '#shared/moderation/review/index.ts'

const checks = defineEndpoint({
  id: 'admin.apps.checks',
  group: 'admin',
  method: 'GET',
  path: '/admin/apps/{id}/checks',
  params: { id: 'app' },
  caller: 'admin',
  role: 'moderator',
  waits: true,
  summary: 'Run automated checks on a submission',
  description:
    'Checks the manifest, calls the endpoint with a missing and with a wrong signature (it must refuse both), opens ' +
    'the linked pages and the logo, and compares the requested scopes with those that test runs used. All external ' +
    'addresses are called in parallel, with a timeout of 10 seconds each. The result is stored with the submission ' +
    'and returned again for 10 minutes, unless the app changes or you send `fresh=true`. Limited to about 10 checks ' +
    'a minute for each app.',
  query: checksQuery,
  response: SubmissionChecksSchema,
  errors: ['no_manifest'],
  needs: ['table:write', 'objects:read', 'outgoing'],
  handler: ({ work, params, query }) => checkSubmission(work, params.id, query),
})

export const endpoints = [checks]
