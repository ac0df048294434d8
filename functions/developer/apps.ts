import { createApp } from '#shared/domain/apps/create.ts'
import { editApp } from '#shared/domain/apps/edit.ts'
import { presentApp } from '#shared/domain/apps/present.ts'
import { listApps, ownApp } from '#shared/domain/apps/read.ts'
import { rotateClientSecret } from '#shared/domain/apps/rotate-secret.ts'
import { rotateSigningSecret } from '#shared/domain/apps/rotate-signing-secret.ts'
import {
  AppSchema,
  ClientSecretSchema,
  CreateApp,
  CreatedAppSchema,
  EditApp,
  RotateSigningSecret,
  SigningSecretSchema,
} from '#shared/domain/apps/schemas.ts'
import { submitApp } from '#shared/domain/apps/submit.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const create = defineEndpoint({
  id: 'developer.apps.create',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps',
  caller: 'developer',
  summary: 'Create an app',
  description:
    'Answers with the OAuth credentials and the signing secret; `client_secret` and `signing_secret` are shown this ' +
    'once. `slug` and `type` are fixed from here on.',
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
  summary: 'List the developer’s apps',
  query: () => pageQuery({}),
  list: 'page',
  response: AppSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['developer.apps.list'],
      query,
      (options) => listApps(work, caller.developerId, options),
      presentApp,
    ),
})

const read = defineEndpoint({
  id: 'developer.apps.read',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Read an app',
  response: AppSchema,
  handler: async ({ work, caller, params }) => presentApp(await ownApp(work, caller.developerId, params.id)),
})

const edit = defineEndpoint({
  id: 'developer.apps.edit',
  group: 'developer',
  method: 'PATCH',
  path: '/api/v1/dev/apps/{id}',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Change fields of an app',
  description:
    'Send only the fields to change; those left out stay. `redirect_uris` and `requested_scopes` are replaced whole. ' +
    'Widening `requested_scopes` gives existing installations nothing: their customers must consent again.',
  body: EditApp,
  response: AppSchema,
  errors: ['blocked_target'],
  handler: ({ work, caller, params, body }) => editApp(work, caller.developerId, params.id, body),
})

const submit = defineEndpoint({
  id: 'developer.apps.submit',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/submit',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Send an app to marketplace moderation',
  description:
    'Needs name, summary, description, logo, privacy address, support e-mail, a promoted version and a test run that ' +
    'succeeded; what lacks is in `details.missing`.',
  response: AppSchema,
  errors: ['review_requirements_missing', 'conflict', 'app_suspended'],
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
    'Takes effect at once: the old secret is `invalid_client`, and every access token of the app has ended, callback and ' +
    'sandbox ones included. Refresh tokens live on: clients refresh with the new secret. The secret is shown this once; ' +
    'send an `Idempotency-Key` to get the same one again should the answer get lost. Of two rotations at the same ' +
    'moment one is `conflict`.',
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
    'Without a body the new secret is the only one at once. With `overlap_hours` run.execute carries both signatures for ' +
    'that long (`t=…,v1=<new>,v1=<old>`). At most two secrets are valid: rotating during an overlap ends the older one. ' +
    'The secret is shown this once.',
  body: RotateSigningSecret,
  response: SigningSecretSchema,
  errors: ['conflict'],
  secret: true,
  needs: ['keys:data'],
  handler: ({ work, caller, params, body }) =>
    rotateSigningSecret(work, caller.developerId, params.id, body.overlap_hours),
})

export const appEndpoints = [create, list, read, edit, submit, rotateSecret, rotateSigning]
