import { loadOwnApp } from '#shared/catalogue/apps/index.ts'
import {
  AnyManifest,
  listVersions,
  loadManifest,
  ManifestToValidate,
  presentVersion,
  promoteVersion,
  publishVersion,
  ReportSchema,
  reportOn,
  VersionSchema,
} from '#shared/catalogue/versions/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

const publish = defineEndpoint({
  id: 'developer.versions.publish',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/versions',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Publish a manifest as a version',
  description:
    'The request body is the manifest itself. Versions are immutable: publishing the same one again gets ' +
    '`version_exists`. Your first publication fixes the vendor part of the manifest’s ID.',
  body: AnyManifest,
  anyJson: true,
  maxBodyBytes: LIMITS.manifestBytes,
  status: 201,
  response: VersionSchema,
  errors: ['invalid_manifest', 'version_exists', 'conflict'],
  needs: ['objects:write'],
  handler: ({ work, caller, params, body }) => publishVersion(work, caller.developerId, params.id, body),
})

const list = defineEndpoint({
  id: 'developer.versions.list',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}/versions',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'List an app’s versions, newest first',
  description:
    'If manifests are large, a page can have fewer items than `limit`. Check `has_more` to see whether to continue.',
  list: {
    load: ({ work, caller, params }) => loadOwnApp(work, caller.developerId, params.id),
    read: ({ work }, page, app) => listVersions(work, app, page),
    present: async (version, { work }, app) => presentVersion(app, version, await loadManifest(work, version)),
  },
  response: VersionSchema,
  needs: ['objects:read'],
})

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

export const endpoints = [publish, list, promote, validate]
