import { CardWatchEntity } from '#shared/catalogue/agent-cards/index.ts'
import { loadOwnApp } from '#shared/catalogue/apps/index.ts'
import {
  AnyManifest,
  listVersions,
  loadManifest,
  presentVersion,
  publishVersion,
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
  waits: true,
  summary: 'Publish a manifest as a version',
  description:
    'The request body is the manifest itself. Versions are immutable: publishing the same one again gets ' +
    '`version_exists`. Your first publication fixes the vendor part of the manifest’s ID. For the runtime `a2a`, ' +
    'publishing fetches the agent’s card, and the version keeps the interface that it names.',
  body: AnyManifest,
  anyJson: true,
  maxBodyBytes: LIMITS.manifestBytes,
  status: 201,
  response: VersionSchema,
  errors: ['invalid_manifest', 'version_exists', 'conflict'],
  needs: ['objects:write', 'outgoing'],
  handler: ({ work, caller, params, body }) => publishVersion(work, caller.developerId, params.id, body),
})

const list = defineEndpoint({
  id: 'developer.versions.list',
  group: 'developer',
  method: 'GET',
  path: '/api/v1/dev/apps/{id}/versions',
  params: { id: 'app' },
  caller: 'developer',
  // Served with the publication, which waits for the address of a card.
  waits: true,
  summary: 'List an app’s versions, newest first',
  description:
    'If manifests are large, a page can have fewer items than `limit`. Check `has_more` to see whether to continue.',
  list: {
    load: async ({ work, caller, params }) => {
      const [app, watch] = await Promise.all([
        loadOwnApp(work, caller.developerId, params.id),
        work.table.get(CardWatchEntity, { app_id: params.id }),
      ])
      return { app, watch }
    },
    read: ({ work }, page, { app }) => listVersions(work, app, page),
    present: async (version, { work }, { app, watch }) =>
      presentVersion(app, version, await loadManifest(work, version), watch),
  },
  response: VersionSchema,
  needs: ['objects:read'],
})

export const endpoints = [publish, list]
