import * as z from 'zod'
import { APP_STATUSES, type App } from '#shared/catalogue/apps/index.ts'
import { logoPath, logoPathField } from '#shared/catalogue/logos/index.ts'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { canUpgrade } from './can-upgrade.ts'
import type { Installation } from './entity.ts'

/** An installation as people of its workspace see it. */
export const installationSchema = () =>
  z
    .object({
      id: idField('ins'),
      status: z.enum(['active', 'suspended', 'revoked']),
      app: z.object({ id: idField('app'), slug: z.string(), name: z.string() }),
      agent: z.object({
        id: z.string().meta({ example: 'acme.stock-agent' }),
        version: z.string().meta({ example: '1.0.0' }),
      }),
      scopes: z.array(z.string()).meta({ description: 'Scopes that its live consents grant together, before bans.' }),
      withdrawn_at: time()
        .nullable()
        .meta({
          description:
            'When the last consent to the app ended; null while there is one. Without a consent, the app has no access. ' +
            'Connect it again, or uninstall it.',
        }),
      is_sandbox: z.boolean(),
      owner: z.object({ id: z.string(), name: z.string() }),
      allowed_callers: z.array(z.string()).nullable().meta({ description: 'Agents that may call it; null for all.' }),
      denied_tools: z.array(z.string()),
      settings_complete: z.boolean().meta({
        description:
          'False while a setting that the manifest requires has no value. Runs start anyway, with the settings that have one.',
      }),
      missing_settings: z.array(z.string()).meta({ description: 'Required settings without a value.', example: [] }),
      created_at: time(),
      updated_at: time(),
    })
    .meta({ id: 'Installation' })

export type InstallationView = z.infer<ReturnType<typeof installationSchema>>

/** An installation with the current state of its app, for lists and upgrades. */
export const InstallationDetailsSchema = () =>
  installationSchema()
    .extend({
      app: z.object({
        id: idField('app'),
        slug: z.string(),
        name: z.string(),
        logo_url: z.string().nullable(),
        logo_path: logoPathField(),
        verified: z.boolean().meta({ description: 'The platform verified the developer.' }),
        status: z.enum(APP_STATUSES).meta({
          description: 'A `suspended` app doesn’t work at all. A `delisted` app is only removed from the marketplace.',
        }),
      }),
      latest_version: z
        .string()
        .nullable()
        .meta({ description: 'The version that an upgrade installs.', example: '1.1.0' }),
      upgrade_available: z.boolean(),
    })
    .meta({ id: 'InstallationDetails' })

export type InstallationDetailsView = z.infer<ReturnType<typeof InstallationDetailsSchema>>

/** Returns the settings that the attached version requires and that have neither a value nor a default. */
const missingSettings = ({ required_settings = [], settings_set = [] }: Installation): string[] =>
  required_settings.filter((name) => !settings_set.includes(name))

export const presentInstallation = (installation: Installation): InstallationView => ({
  id: installation.id,
  status: installation.status,
  app: { id: installation.app_id, slug: installation.app_slug, name: installation.app_name },
  agent: { id: installation.agent_id, version: installation.version },
  scopes: installation.scopes,
  withdrawn_at: installation.withdrawn_at === undefined ? null : iso(installation.withdrawn_at),
  is_sandbox: installation.is_sandbox,
  owner: installation.owner,
  allowed_callers: installation.allowed_callers,
  denied_tools: installation.denied_tools,
  settings_complete: missingSettings(installation).length === 0,
  missing_settings: missingSettings(installation),
  created_at: iso(installation.created_at),
  updated_at: iso(installation.updated_at),
})

export const presentDetails = (installation: Installation, app: App): InstallationDetailsView => ({
  ...presentInstallation(installation),
  app: {
    id: app.id,
    slug: app.slug,
    name: app.name,
    logo_url: app.logo_url ?? null,
    logo_path: logoPath(app),
    verified: app.verified,
    status: app.status,
  },
  latest_version: app.promoted_version ?? null,
  upgrade_available: canUpgrade(app, installation),
})
