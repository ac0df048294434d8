import { defineEndpoint } from '#shared/http/endpoint.ts'
import { approveVersion, ModeratedVersionSchema, Reason, rejectVersion } from '#shared/moderation/review/index.ts'

const decision = {
  group: 'admin',
  method: 'POST',
  params: { id: 'app', vid: 'version' },
  caller: 'admin',
  role: 'moderator',
  response: ModeratedVersionSchema,
  errors: ['conflict'],
  needs: ['objects:read'],
} as const

const approve = defineEndpoint({
  ...decision,
  id: 'admin.versions.approve',
  path: '/admin/apps/{id}/versions/{vid}/approve',
  summary: 'Approve a version that is waiting for review',
  description:
    'Lets the developer promote the version, but doesn’t promote it. Versions published before the app itself was ' +
    'approved aren’t in the review queue until the developer asks for a review, but they also need approval.',
  handler: ({ work, caller, params }) => approveVersion(work, caller, params.id, params.vid),
})

const reject = defineEndpoint({
  ...decision,
  id: 'admin.versions.reject',
  path: '/admin/apps/{id}/versions/{vid}/reject',
  summary: 'Reject a version that is waiting for review',
  description: 'The developer sees the reason and can publish another version.',
  body: Reason,
  handler: ({ work, caller, params, body }) => rejectVersion(work, caller, params.id, params.vid, body.reason),
})

export const endpoints = [approve, reject]
