import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  ApproveApp,
  approveApp,
  ModeratedAppSchema,
  Reason,
  rejectApp,
  suspendApp,
  unsuspendApp,
} from '#shared/moderation/review/index.ts'

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
    'Customers can install the app once it is approved, and its promoted version counts as reviewed. The developer ' +
    'can edit the app and promote another version while you review. To approve only what you saw, send its ' +
    '`promoted_version` and `updated_at`. A name that looks like that of another developer’s listed app fails the check ' +
    '`similar_name`, which you accept in `accepted_checks`.',
  body: ApproveApp,
  handler: ({ work, caller, params, body }) => approveApp(work, caller, params.id, body),
})

const reject = defineEndpoint({
  ...decision,
  id: 'admin.apps.reject',
  path: '/admin/apps/{id}/reject',
  role: 'moderator',
  summary: 'Reject an app in review',
  description: 'The developer sees the reason and can submit the app again.',
  body: Reason,
  handler: ({ work, caller, params, body }) => rejectApp(work, caller, params.id, body.reason),
})

const suspend = defineEndpoint({
  ...decision,
  id: 'admin.apps.suspend',
  confirms: true,
  path: '/admin/apps/{id}/suspend',
  role: 'superadmin',
  summary: 'Suspend an app',
  description: 'Acts as a kill switch: every token of the app is refused with `app_suspended` from its next request.',
  body: Reason,
  handler: ({ work, caller, params, body }) => suspendApp(work, caller, params.id, body.reason),
})

const unsuspend = defineEndpoint({
  ...decision,
  id: 'admin.apps.unsuspend',
  confirms: true,
  path: '/admin/apps/{id}/unsuspend',
  role: 'superadmin',
  summary: 'End an app’s suspension',
  description: 'The app returns to the status it had before the suspension.',
  handler: ({ work, caller, params }) => unsuspendApp(work, caller, params.id),
})

export const endpoints = [approve, reject, suspend, unsuspend]
