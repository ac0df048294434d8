import { approveApp, rejectApp, suspendApp, unsuspendApp } from '#shared/domain/moderation/decide.ts'
import { ApproveApp, ModeratedAppSchema, Reason } from '#shared/domain/moderation/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const decision = {
  group: 'admin',
  method: 'POST',
  params: { id: 'app' },
  caller: 'admin',
  response: ModeratedAppSchema,
  errors: ['conflict'],
} as const

const approve = defineEndpoint({
  ...decision,
  id: 'admin.apps.approve',
  path: '/admin/apps/{id}/approve',
  role: 'moderator',
  summary: 'Approve an app in review',
  description:
    'From then on customers can install it. Its promoted version counts as reviewed. The developer may promote another one until ' +
    'then: say with `promoted_version` which one was looked at.',
  body: ApproveApp,
  handler: ({ work, caller, params, body }) => approveApp(work, caller, params.id, body.promoted_version),
})

const reject = defineEndpoint({
  ...decision,
  id: 'admin.apps.reject',
  path: '/admin/apps/{id}/reject',
  role: 'moderator',
  summary: 'Reject an app in review',
  description: 'The developer sees the reason, and may submit again.',
  body: Reason,
  handler: ({ work, caller, params, body }) => rejectApp(work, caller, params.id, body.reason),
})

const suspend = defineEndpoint({
  ...decision,
  id: 'admin.apps.suspend',
  path: '/admin/apps/{id}/suspend',
  role: 'superadmin',
  summary: 'Suspend an app',
  description: 'The kill switch: each of its tokens is refused with `app_suspended` from the next request on.',
  body: Reason,
  handler: ({ work, caller, params, body }) => suspendApp(work, caller, params.id, body.reason),
})

const unsuspend = defineEndpoint({
  ...decision,
  id: 'admin.apps.unsuspend',
  path: '/admin/apps/{id}/unsuspend',
  role: 'superadmin',
  summary: 'End an app’s suspension',
  description: 'The app goes back to the status that the suspension interrupted.',
  handler: ({ work, caller, params }) => unsuspendApp(work, caller, params.id),
})

export const appEndpoints = [approve, reject, suspend, unsuspend]
