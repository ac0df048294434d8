import * as z from 'zod'
import { loadPayload } from '#shared/domain/payloads.ts'
import { VersionEntity } from '#shared/entities/apps.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { fail } from '#shared/kernel/errors.ts'

const Identity = () =>
  z
    .object({
      installation: z.object({ id: z.string(), status: z.string(), scopes: z.array(z.string()) }),
      workspace: z.object({ id: z.string(), name: z.string(), is_sandbox: z.boolean() }),
      app: z.object({ id: z.string(), slug: z.string() }),
      token: z.object({
        type: z.enum(['access', 'callback', 'surface']),
        expires_at: z.number().int().meta({ description: 'Unix seconds' }),
      }),
    })
    .meta({ id: 'TokenIdentity' })

export const me = defineEndpoint({
  id: 'api.me.read',
  group: 'api',
  method: 'GET',
  path: '/api/v1/me',
  caller: 'integration',
  summary: 'Who this token is',
  description:
    'The installation, workspace and app of the token. `installation.scopes` is the latest consent; a token of an older grant may do less.',
  response: Identity,
  handler: async ({ caller }) => ({
    installation: {
      id: caller.installation.id,
      status: caller.installation.status,
      scopes: caller.installation.scopes,
    },
    workspace: { id: caller.workspace.id, name: caller.workspace.name, is_sandbox: caller.workspace.is_sandbox },
    app: { id: caller.app.id, slug: caller.app.slug },
    token: { type: caller.token.type, expires_at: caller.token.expiresAt },
  }),
})

const AttachedManifest = () =>
  z
    .object({
      version: z.string(),
      version_id: z.string(),
      manifest: z.record(z.string(), z.unknown()),
    })
    .meta({ id: 'AttachedManifest' })

export const manifest = defineEndpoint({
  id: 'api.manifest.read',
  group: 'api',
  method: 'GET',
  path: '/api/v1/manifest',
  caller: 'integration',
  summary: 'The manifest version attached to the installation',
  description: 'May be older than the newest: an installation moves when its owner upgrades it.',
  response: AttachedManifest,
  needs: ['objects:read'],
  handler: async ({ caller, work }) => {
    const { app_id, version_id } = caller.installation
    const version = await work.table.get(VersionEntity, { app_id, id: version_id })
    if (!version) throw fail('not_found', { message: 'The installation has no manifest.' })
    return {
      version: version.version,
      version_id: version.id,
      manifest: (await loadPayload(work, version.manifest)) as Record<string, unknown>,
    }
  },
})
