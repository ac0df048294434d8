import * as z from 'zod'
import { ScreenshotSchema, SORTS, similarToField } from '#shared/catalogue/apps/index.ts'
import { logoPathField } from '#shared/catalogue/logos/index.ts'
import { ProposedScheduleSchema } from '#shared/catalogue/versions/index.ts'
import { idField, ScopeSchema, time } from '#shared/foundation/schemas/index.ts'
import { CATEGORIES } from '#shared/kernel/categories.ts'

/** Filters of `GET /console/marketplace`. */
export const marketplaceFilters = () => ({
  q: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(100)
    .optional()
    .meta({
      description:
        'Words or prefixes of words in name, slug, developer, category or summary. An app must match all of them. ' +
        'Matches of whole words come before matches of prefixes, regardless of `sort`.',
      example: 'stock',
    }),
  category: z.enum(CATEGORIES).optional().meta({ description: 'Apps of this category only.', example: 'support' }),
  sort: z
    .enum(SORTS)
    .default('featured')
    .meta({ description: '`featured`: apps that the platform features, then the newest.' }),
})

const rating = () =>
  z.object({
    average: z
      .number()
      .nullable()
      .meta({ description: 'Rounded to two decimals; null without reviews.', example: 4.25 }),
    count: z.number().int(),
  })

const shown = () => ({
  id: idField('app'),
  slug: z.string().meta({ example: 'stock-helper' }),
  name: z.string(),
  type: z.enum(['agent', 'integration']),
  summary: z.string(),
  category: z.string().nullable(),
  logo_url: z.string().nullable(),
  logo_path: logoPathField(),
  verified: z.boolean().meta({ description: 'The platform verified the developer.' }),
  developer_id: idField('dev'),
  developer_name: z.string().meta({ description: 'The developer’s company, or their name.', example: 'Acme Ltd' }),
  similar_to: similarToField(),
  rating: rating(),
  needs_oauth: z.boolean().meta({
    description:
      'True if its backend asks for consent: send the person to `install_url`. Otherwise install it with `POST /console/installations`.',
  }),
  install_url: z
    .string()
    .nullable()
    .meta({ description: 'The app’s own page that starts an installation with consent; null if it has none.' }),
})

const here = () =>
  z
    .object({
      id: idField('ins'),
      status: z.enum(['active', 'suspended']),
      access_withdrawn: z.boolean().meta({ description: 'Nobody consents to the app any more.' }),
      version: z.string(),
      upgrade_available: z.boolean(),
    })
    .nullable()
    .meta({ description: 'Its installation in this workspace; null if it isn’t installed.' })

/** An app in the marketplace. */
export const MarketplaceAppSchema = () =>
  z
    .object({
      ...shown(),
      featured: z.boolean(),
      version: z.string().nullable().meta({ description: 'Version that gets installed.', example: '1.2.0' }),
      installation: here(),
      listed_at: time(),
    })
    .meta({ id: 'MarketplaceApp' })

export type MarketplaceAppView = z.infer<ReturnType<typeof MarketplaceAppSchema>>

/** Reasons that a person can't install an app now. */
export const INSTALL_BLOCKS = [
  'admin_required',
  'app_not_approved',
  'app_suspended',
  'installation_suspended',
  'no_manifest',
  'scope_denied_by_admin',
] as const

export type InstallBlock = (typeof INSTALL_BLOCKS)[number]

/** Response of `GET /console/install/{slug}`: the data of an install link's page. */
export const InstallLinkSchema = () =>
  z
    .object({
      app: z
        .object({
          ...shown(),
          description: z.string(),
          screenshots: z.array(ScreenshotSchema()),
          privacy_url: z.string().nullable(),
          homepage_url: z.string().nullable(),
          support_email: z.string().nullable(),
        })
        .meta({ description: 'The app and its developer.' }),
      agent: z
        .object({ id: z.string().meta({ example: 'acme.stock-agent' }), version: z.string() })
        .nullable()
        .meta({ description: 'Agent and version that get installed; null if no version is published.' }),
      scopes: z.array(
        ScopeSchema().extend({
          denied: z.boolean().meta({ description: 'An admin of the workspace has blocked it.' }),
          granted: z.boolean().meta({ description: 'The installation in this workspace already has it.' }),
        }),
      ),
      authorize: z
        .object({
          url: z.string().meta({ example: 'https://platform.example/oauth/authorize' }),
          client_id: z.string(),
          scope: z.string(),
          redirect_uris: z.array(z.string()),
        })
        .nullable()
        .meta({
          description:
            'For an app that needs OAuth: parameters with which its backend starts the consent. Only the backend can add ' +
            '`state` and the PKCE challenge, so send the person to `app.install_url`.',
        }),
      config: z.record(z.string(), z.unknown()).nullable().meta({
        description: 'The manifest’s `config`, for a form to fill in after installing; null if it has none.',
      }),
      schedules: z
        .array(ProposedScheduleSchema())
        .meta({ description: 'Schedules that the agent proposes. Each one is off until a person turns it on.' }),
      installation: here(),
      can_install: z.boolean(),
      blocked_by: z.enum(INSTALL_BLOCKS).nullable().meta({ description: 'Why `can_install` is false.' }),
    })
    .meta({ id: 'InstallLink' })

export type InstallLinkView = z.infer<ReturnType<typeof InstallLinkSchema>>

/** Response of `GET /console/publishers/{id}`. */
export const PublisherSchema = () =>
  z
    .object({
      id: idField('dev'),
      name: z.string().meta({ description: 'The developer’s company, or their name.', example: 'Acme Ltd' }),
      verified: z.boolean().meta({ description: 'The platform verified the developer.' }),
      apps: z.array(MarketplaceAppSchema()),
    })
    .meta({ id: 'Publisher' })

export type PublisherView = z.infer<ReturnType<typeof PublisherSchema>>
