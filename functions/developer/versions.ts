import {
  ManifestToValidate,
  promoteVersion,
  ReportSchema,
  reportForApp,
  reportOn,
  VersionSchema,
} from '#shared/catalogue/versions/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

const validate = defineEndpoint({
  id: 'developer.manifest.validate',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/manifest/validate',
  caller: 'none',
  anonymous: 'read',
  summary: 'Validate a manifest without an account',
  description:
    'Useful in CI. Responds with 200 and lists every error at once, each with its JSON Pointer and how to fix it.',
  body: ManifestToValidate,
  anyJson: true,
  maxBodyBytes: LIMITS.manifestBytes,
  response: ReportSchema,
  handler: async ({ work, body }) => reportOn(work, body),
})

const validateForApp = defineEndpoint({
  id: 'developer.versions.validate',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/versions/validate',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Validate a manifest for an app',
  description:
    'Says what publishing would say, without publishing: it also checks the app’s slug and scopes, your vendor name and ' +
    'the versions that exist. It doesn’t fetch the card of an `a2a` agent.',
  body: ManifestToValidate,
  anyJson: true,
  maxBodyBytes: LIMITS.manifestBytes,
  response: ReportSchema,
  handler: ({ work, caller, params, body }) => reportForApp(work, caller.developerId, params.id, body),
})

const promote = defineEndpoint({
  id: 'developer.versions.promote',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/versions/{v}/promote',
  params: { id: 'app', v: 'text' },
  caller: 'developer',
  summary: 'Promote a version for new installations',
  description:
    '`{v}` is the version string. Existing installations keep their version. Once the app is approved, a new version ' +
    'needs a moderator’s approval before you can promote it.',
  response: VersionSchema,
  errors: ['conflict'],
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => promoteVersion(work, caller.developerId, params.id, params.v),
})

export const endpoints = [promote, validate, validateForApp]
