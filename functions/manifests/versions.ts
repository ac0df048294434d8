import { ownApp } from '#shared/domain/apps/read.ts'
import { loadManifest } from '#shared/domain/versions/manifest.ts'
import { presentVersion } from '#shared/domain/versions/present.ts'
import { publishVersion } from '#shared/domain/versions/publish.ts'
import { listVersions } from '#shared/domain/versions/read.ts'
import { AnyManifest, ReportSchema, SupposedManifest, VersionSchema } from '#shared/domain/versions/schemas.ts'
import { reportOn } from '#shared/domain/versions/validate.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

export const publish = defineEndpoint({
  id: 'developer.versions.publish',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/versions',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'Publish a manifest as a version',
  description:
    'The body is the manifest itself. Versions are immutable: publishing one again is `version_exists`. The vendor ' +
    'part of the manifest’s id is fixed by the developer’s first publication.',
  body: AnyManifest,
  anyJson: true,
  maxBodyBytes: LIMITS.manifestBytes,
  status: 201,
  response: VersionSchema,
  errors: ['invalid_manifest', 'version_exists', 'conflict'],
  needs: ['objects:write'],
  handler: ({ work, caller, params, body }) => publishVersion(work, caller.developerId, params.id, body),
})

export const list = defineEndpoint({
  id: 'developer.versions.list',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}/versions',
  params: { id: 'app' },
  caller: 'developer',
  summary: 'List an app’s versions, newest first',
  description:
    'A page may hold fewer records than `limit` where manifests are large; `has_more` says whether to go on.',
  query: () => pageQuery({}),
  list: 'page',
  response: VersionSchema,
  needs: ['objects:read'],
  handler: async ({ work, caller, params, query }) => {
    const app = await ownApp(work, caller.developerId, params.id)
    return paged(
      work,
      caller,
      ['developer.versions.list', app.id],
      query,
      (options) => listVersions(work, app, options),
      async (version) => presentVersion(app, version, await loadManifest(work, version)),
    )
  },
})

export const validate = defineEndpoint({
  id: 'developer.manifest.validate',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/manifest/validate',
  caller: 'none',
  summary: 'Check a manifest without an account',
  description: 'For CI: answers 200 with every error at once, each with its JSON Pointer and how to mend it.',
  body: SupposedManifest,
  anyJson: true,
  maxBodyBytes: LIMITS.manifestBytes,
  response: ReportSchema,
  handler: async ({ work, body }) => reportOn(work, body),
})
