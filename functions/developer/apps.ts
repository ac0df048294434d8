import {
  AppSchema,
  ClientSecretSchema,
  CreateApp,
  CreatedAppSchema,
  createApp,
  EditApp,
  editApp,
  listApps,
  loadOwnApp,
  presentApp,
  RotateSigningSecret,
  rotateClientSecret,
  rotateSigningSecret,
  SigningSecretSchema,
  UPLOAD_BODY_BYTES,
  UploadedScreenshotSchema,
  UploadScreenshot,
  uploadScreenshot,
} from '#shared/catalogue/apps/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { deleteDraft } from '#shared/lifecycle/apps/index.ts'
import { submitApp } from '#shared/moderation/review/index.ts'

const create = defineEndpoint({
  id: 'developer.apps.create',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps',
  caller: 'developer',
  summary: 'Create an app',
  description:
    'Returns the OAuth credentials and the signing secret. `client_secret` and `signing_secret` are shown only once. ' +
    'You can’t change `slug` and `type` later.',
  body: CreateApp,
  status: 201,
  response: CreatedAppSchema,
  errors: ['slug_taken', 'app_limit_reached', 'blocked_target'],
  secret: true,
  needs: ['keys:data'],
  handler: ({ work, caller, body }) => createApp(work, caller.developerId, body),
})

const list = defineEndpoint({
  id: 'developer.apps.list',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/apps',
  caller: 'developer',
  summary: 'List your apps',
  list: {
    read: ({ work, caller }, page) => listApps(work, caller.developerId, page),
    present: presentApp,
  },
  response: AppSchema,
})

const read = defineEndpoint({
  id: 'developer.apps.read',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Get an app',
  response: AppSchema,
  handler: async ({ work, caller, params }) => presentApp(await loadOwnApp(work, caller.developerId, params.id)),
})

const edit = defineEndpoint({
  id: 'developer.apps.edit',
  group: 'developer',
  method: 'PATCH',
  path: '/api/v1/dev/apps/{id}',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Update an app',
  description:
    'Fields that you leave out don’t change. `redirect_uris` and `requested_scopes` are replaced as a whole. Adding ' +
    'to `requested_scopes` doesn’t affect existing installations: their customers have to consent again.',
  body: EditApp,
  response: AppSchema,
  errors: ['blocked_target'],
  handler: ({ work, caller, params, body }) => editApp(work, caller.developerId, params.id, body),
})

const uploadImage = defineEndpoint({
  id: 'developer.apps.uploadScreenshot',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/screenshots',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Upload a screenshot',
  description:
    'Nobody sees the image before `screenshots` of `PATCH /api/v1/dev/apps/{id}` has its `id`. The last 16 uploads of an app ' +
    'are kept, and those that its listing shows or a revision waits with. The same image gets the same id.',
  body: UploadScreenshot,
  maxBodyBytes: UPLOAD_BODY_BYTES,
  status: 201,
  response: UploadedScreenshotSchema,
  needs: ['logos:read', 'logos:write'],
  handler: ({ work, caller, params, body }) => uploadScreenshot(work, caller.developerId, params.id, body.image),
})

const remove = defineEndpoint({
  id: 'developer.apps.delete',
  group: 'developer',
  method: 'DELETE',
  path: '/api/v1/dev/apps/{id}',
  params: { id: 'app' },
  caller: 'developer',
  role: 'owner',
  summary: 'Delete a draft',
  description:
    'Deletes an app that was never submitted, with its versions. Its slug is free again, and sandboxes that have it ' +
    'installed lose it. Other apps get `conflict`.',
  status: 204,
  errors: ['conflict'],
  needs: ['objects:write'],
  handler: async ({ work, caller, params }) => {
    await deleteDraft(work, caller.developerId, params.id)
    return undefined
  },
})

const submit = defineEndpoint({
  id: 'developer.apps.submit',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/submit',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Submit an app for marketplace review',
  description:
    'The app needs a name, summary, description, logo, privacy URL, support email, a promoted version and a ' +
    'successful test run. `details.missing` lists what is missing.',
  response: AppSchema,
  errors: ['review_requirements_missing', 'conflict', 'app_suspended', 'email_not_verified'],
  handler: ({ work, caller, params }) => submitApp(work, caller.developerId, params.id),
})

const rotateSecret = defineEndpoint({
  id: 'developer.apps.rotateSecret',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/rotate-secret',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Replace the client secret',
  description:
    'Takes effect immediately: the old secret gets `invalid_client`, and all access tokens of the app end, including ' +
    'callback and sandbox tokens. Refresh tokens stay valid: use them with the new secret. The new secret is shown ' +
    'only once. Send an `Idempotency-Key` so that you can get the same secret again if the response is lost. If you ' +
    'rotate twice at the same time, one request gets `conflict`.',
  response: ClientSecretSchema,
  errors: ['conflict'],
  secret: true,
  handler: ({ work, caller, params }) => rotateClientSecret(work, caller.developerId, params.id),
})

const rotateSigning = defineEndpoint({
  id: 'developer.apps.rotateSigningSecret',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/rotate-signing-secret',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Replace the signing secret',
  description:
    'Without a body, the new secret replaces the old one immediately. With `overlap_hours`, `run.execute` requests ' +
    'carry both signatures for that long (`t=…,v1=<new>,v1=<old>`). At most two secrets are valid: rotating again ' +
    'during an overlap ends the older one. The new secret is shown only once.',
  body: RotateSigningSecret,
  response: SigningSecretSchema,
  errors: ['conflict'],
  secret: true,
  needs: ['keys:data'],
  handler: ({ work, caller, params, body }) =>
    rotateSigningSecret(work, caller.developerId, params.id, body.overlap_hours),
})

export const endpoints = [create, list, read, edit, uploadImage, remove, submit, rotateSecret, rotateSigning]
