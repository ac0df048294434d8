import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  ApproveRevision,
  approveRevision,
  ModeratedAppSchema,
  Reason,
  rejectRevision,
} from '#shared/moderation/review/index.ts'

const decision = {
  group: 'admin',
  method: 'POST',
  params: { id: 'app', rid: 'appRevision' },
  caller: 'admin',
  role: 'moderator',
  response: ModeratedAppSchema,
  errors: ['conflict'],
} as const

const approve = defineEndpoint({
  ...decision,
  id: 'admin.revisions.approve',
  path: '/admin/apps/{id}/revisions/{rid}/approve',
  summary: 'Approve changes of an approved app',
  description:
    'The changes in `pending_revision` become live. Each change by the developer gives the revision another id, so you ' +
    'approve exactly what you saw.',
  body: ApproveRevision,
  handler: ({ work, caller, params, body }) => approveRevision(work, caller, params.id, params.rid, body),
})

const reject = defineEndpoint({
  ...decision,
  id: 'admin.revisions.reject',
  path: '/admin/apps/{id}/revisions/{rid}/reject',
  summary: 'Reject changes of an approved app',
  description: 'The app doesn’t change. The developer sees the reason and can change it again.',
  body: Reason,
  handler: ({ work, caller, params, body }) => rejectRevision(work, caller, params.id, params.rid, body.reason),
})

export const endpoints = [approve, reject]
