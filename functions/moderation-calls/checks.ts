import { checkSubmission } from '#shared/domain/moderation/checks/check.ts'
import { checksQuery, SubmissionChecksSchema } from '#shared/domain/moderation/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

export const checks = defineEndpoint({
  id: 'admin.apps.checks',
  group: 'admin',
  method: 'GET',
  path: '/admin/apps/{id}/checks',
  params: { id: 'app' },
  caller: 'admin',
  role: 'moderator',
  waits: true,
  summary: 'Check a submission automatically',
  description:
    'Looks at the manifest, calls the endpoint with no signature and with a wrong one, which it has to refuse, opens the pages and ' +
    'the logo, and compares scopes with what test runs used. It calls outside addresses at most 10 seconds each, all at once. ' +
    'What it found is kept for the submission: within 10 minutes it is answered again, unless the app changed or `fresh=true`. ' +
    'About 10 looks a minute for each app.',
  query: checksQuery,
  response: SubmissionChecksSchema,
  errors: ['no_manifest'],
  needs: ['table:write', 'objects:read'],
  handler: ({ work, params, query }) => checkSubmission(work, params.id, query),
})
