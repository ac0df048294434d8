import { promoteVersion } from '#shared/domain/versions/promote.ts'
import { VersionSchema } from '#shared/domain/versions/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const promote = defineEndpoint({
  id: 'developer.versions.promote',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/apps/{id}/versions/{v}/promote',
  params: { id: 'app', v: 'text' },
  caller: 'developer',
  summary: 'Make a version the one that new installations get',
  description:
    '`{v}` is the version string. Existing installations stay on theirs. Once the app was approved, a new version can ' +
    'be promoted only after moderation approved it.',
  response: VersionSchema,
  errors: ['conflict'],
  needs: ['objects:read'],
  handler: ({ work, caller, params }) => promoteVersion(work, caller.developerId, params.id, params.v),
})

export const versionEndpoints = [promote]
