import { ModeratedVersionSchema, Reason } from '#shared/domain/moderation/schemas.ts'
import { approveVersion, rejectVersion } from '#shared/domain/moderation/versions.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

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
  summary: 'Approve a version that waits',
  description:
    'From then on the developer can promote it; approving does not. Those published before the app’s own approval are not in ' +
    'the queue, but wait as well: the developer may ask for one.',
  handler: ({ work, caller, params }) => approveVersion(work, caller, params.id, params.vid),
})

const reject = defineEndpoint({
  ...decision,
  id: 'admin.versions.reject',
  path: '/admin/apps/{id}/versions/{vid}/reject',
  summary: 'Reject a version that waits',
  description: 'The developer is told the reason, and publishes another version.',
  body: Reason,
  handler: ({ work, caller, params, body }) => rejectVersion(work, caller, params.id, params.vid, body.reason),
})

export const versionEndpoints = [approve, reject]
