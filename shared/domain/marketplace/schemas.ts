import * as z from 'zod'
import { CATEGORIES } from '../../kernel/categories.ts'
import { idField, time } from '../fields.ts'
import { ScopeSchema } from '../oauth/scopes.ts'
import { SORTS } from './places.ts'

/** The filters of `GET /console/marketplace`. */
export const marketplaceFilters = () => ({
  q: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(100)
    .optional()
    .meta({
      description:
        'Words, or beginnings of words, of name, slug, developer, category or summary; an app has to have all of them. ' +
        'What has the word itself comes before what only begins like it, whatever `sort` says.',
      example: 'stock',
    }),
  category: z.enum(CATEGORIES).optional().meta({ description: 'Apps of this category only.', example: 'support' }),
  sort: z
    .enum(SORTS)
    .default('featured')
    .meta({ description: '`featured`: what the platform’s staff features, then the newest.' }),
})

const rating = () =>
  z.object({
    average: z.number().nullable().meta({ description: 'To two decimals; null while there is none.', example: 4.25 }),
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
  verified: z.boolean().meta({ description: 'The platform verified the developer.' }),
  developer_name: z.string().meta({ description: 'The developer’s company, or name.', example: 'Acme Ltd' }),
  rating: rating(),
  needs_oauth: z.boolean().meta({
    description:
      'It has a backend that asks for consent: send the person to `install_url`. Otherwise `POST /console/installations` installs it.',
  }),
  install_url: z
    .string()
    .nullable()
    .meta({ description: 'The app’s own page at which installing with consent begins; null where it has none.' }),
})

const here = () =>
  z
    .object({
      id: idField('ins'),
      status: z.enum(['active', 'suspended']),
      version: z.string(),
      upgrade_available: z.boolean(),
    })
    .nullable()
    .meta({ description: 'Its installation in this workspace; null where it is not installed.' })

/** An app in the marketplace. */
export const MarketplaceAppSchema = () =>
  z
    .object({
      ...shown(),
      featured: z.boolean(),
      version: z.string().nullable().meta({ description: 'What installing gives.', example: '1.2.0' }),
      installation: here(),
      listed_at: time(),
    })
    .meta({ id: 'MarketplaceApp' })

export type MarketplaceAppView = z.infer<ReturnType<typeof MarketplaceAppSchema>>

/** Why somebody cannot install an app now. */
export const INSTALL_BLOCKS = [
  'admin_required',
  'app_not_approved',
  'app_suspended',
  'installation_suspended',
  'no_manifest',
  'scope_denied_by_admin',
] as const
export type InstallBlock = (typeof INSTALL_BLOCKS)[number]

/** `GET /console/install/{slug}`: what the page behind an install link shows. */
export const InstallLinkSchema = () =>
  z
    .object({
      app: z
        .object({
          ...shown(),
          description: z.string(),
          privacy_url: z.string().nullable(),
          homepage_url: z.string().nullable(),
          support_email: z.string().nullable(),
        })
        .meta({ description: 'The app and who makes it.' }),
      agent: z
        .object({ id: z.string().meta({ example: 'acme.stock-agent' }), version: z.string() })
        .nullable()
        .meta({ description: 'What installing gives; null while nothing is published.' }),
      scopes: z.array(
        ScopeSchema().extend({
          denied: z.boolean().meta({ description: 'An admin of the organization forbade it.' }),
          granted: z.boolean().meta({ description: 'The installation here has it already.' }),
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
            'For an app that needs OAuth: what its backend begins the consent with. It adds `state` and the PKCE challenge, ' +
            'which only it can; so a person goes to `app.install_url`.',
        }),
      config: z.record(z.string(), z.unknown()).nullable().meta({
        description: 'The manifest’s `config`, for a form to fill in after installing; null where it has none.',
      }),
      installation: here(),
      can_install: z.boolean(),
      blocked_by: z.enum(INSTALL_BLOCKS).nullable().meta({ description: 'Why `can_install` is false.' }),
    })
    .meta({ id: 'InstallLink' })

export type InstallLinkView = z.infer<ReturnType<typeof InstallLinkSchema>>
