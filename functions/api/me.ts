import * as z from 'zod'
import { scopesInEffect } from '#shared/access/installations/index.ts'
import { VersionEntity } from '#shared/catalogue/versions/index.ts'
import { loadPayload } from '#shared/foundation/payloads/index.ts'
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

const me = defineEndpoint({
  id: 'api.me.read',
  group: 'api',
  method: 'GET',
  path: '/api/v1/me',
  caller: 'integration',
  summary: 'Get the installation behind this token',
  description:
    'Returns the token’s installation, workspace and app. `installation.scopes` lists the scopes in effect: ' +
    'those of its live consents, without those that the workspace banned. A token of one of several grants may allow less.',
  response: Identity,
  handler: async ({ caller }) => ({
    installation: {
      id: caller.installation.id,
      status: caller.installation.status,
      scopes: scopesInEffect(caller.installation, caller.workspace),
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

const manifest = defineEndpoint({
  id: 'api.manifest.read',
  group: 'api',
  method: 'GET',
  path: '/api/v1/manifest',
  caller: 'integration',
  summary: 'Get the installation’s manifest',
  description:
    'Returns the manifest version that is installed. It can be older than the latest one: an installation changes ' +
    'version when its owner upgrades it.',
  response: AttachedManifest,
  needs: ['objects:read'],
  handler: async ({ caller, work }) => {
    const { app_id, version_id } = caller.installation
    const version = await work.table.get(VersionEntity, { app_id, id: version_id })
    if (!version) throw fail('not_found', { message: 'This installation has no manifest.' })
    return {
      version: version.version,
      version_id: version.id,
      manifest: (await loadPayload(work, version.manifest)) as Record<string, unknown>,
    }
  },
})

export const endpoints = [me, manifest]
