import * as z from 'zod'
import { emailAddress, idField, name, time } from '#shared/foundation/schemas/index.ts'
import { CATEGORIES } from '#shared/kernel/categories.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { nearest } from '#shared/kernel/nearest.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import { logoPathField } from '../logos/path.ts'
import { redirectAddress, webAddress } from './addresses.ts'
import { clientKeys, shownClientKeys } from './client-keys.ts'
import { APP_STATUSES, moderatedFields } from './entity.ts'
import { ScreenshotSchema, screenshotsInput } from './screenshot-schemas.ts'

const unknownScope = (input: unknown): string => {
  if (typeof input !== 'string') return 'must be a scope'
  const meant = nearest(input, SCOPE_NAMES)
  return `unknown scope ${JSON.stringify(input.slice(0, 60))}${meant ? `; did you mean ${meant}?` : ''}`
}

const scopes = () =>
  z
    .array(z.enum(SCOPE_NAMES, { error: ({ input }) => unknownScope(input) }))
    .max(100)
    .transform((list) => [...new Set(list)])

const redirectUris = () =>
  z
    .array(redirectAddress())
    .max(LIMITS.redirectUrisPerApp, `must have at most ${LIMITS.redirectUrisPerApp} addresses`)
    .transform((list) => [...new Set(list)])
    .meta({
      description:
        'Redirect URIs for authorization: https, compared character by character. No fragment, and no `code`, `state`, `iss` or `error…` in the query.',
    })

const editable = () => ({
  name: name(80).meta({ example: 'Stock helper' }),
  summary: z.string().trim().max(300).meta({ example: 'Answers questions about the stock of a shop.' }),
  description: z.string().max(8_000),
  category: z
    .enum(CATEGORIES)
    .nullable()
    .meta({ description: 'Category in the marketplace. Null for none.', example: 'support' }),
  logo_url: webAddress().nullable(),
  privacy_url: webAddress().nullable(),
  homepage_url: webAddress().nullable(),
  install_url: webAddress().nullable(),
  support_email: emailAddress().nullable(),
  redirect_uris: redirectUris(),
  requested_scopes: scopes(),
  jwks: clientKeys().nullable(),
})

/** Slug: 3 to 40 of `a-z0-9-`, not starting or ending with `-` (contract/apps-and-manifests.md#apps). */
const slug = () =>
  z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$/,
      'must have 3 to 40 characters of a-z, 0-9 and -, and not start or end with -',
    )
    .meta({ description: 'Unique on the platform. Fixed after creation.', example: 'stock-helper' })

/** Body of `POST /api/v1/dev/apps`. */
export const CreateApp = () => {
  const { name, ...rest } = editable()
  return z
    .strictObject({ slug: slug(), type: z.enum(['agent', 'integration']), name })
    .extend(z.strictObject(rest).partial().shape)
    .meta({ id: 'CreateApp' })
}

/** Body of `PATCH /api/v1/dev/apps/{id}`. Sent fields change, lists are replaced as a whole, and null removes a URL. */
export const EditApp = () =>
  z
    .strictObject({ ...editable(), screenshots: screenshotsInput() })
    .partial()
    .meta({ id: 'EditApp' })

export type CreateAppInput = z.infer<ReturnType<typeof CreateApp>>

export type EditAppInput = z.infer<ReturnType<typeof EditApp>>

/** Listed apps of other developers with confusable names, shown to people who install the app. */
export const similarToField = () =>
  z
    .array(
      z.object({
        app_id: idField('app'),
        slug: z.string().meta({ example: 'stock-helper' }),
        name: z.string(),
        developer_name: z.string(),
      }),
    )
    .meta({
      description:
        'Apps of other developers whose names look like this one. A moderator accepted that. Show it to people who ' +
        'install the app.',
    })

const app = () => ({
  id: idField('app'),
  slug: z.string(),
  type: z.enum(['agent', 'integration']),
  name: z.string(),
  summary: z.string(),
  description: z.string(),
  category: z.string().nullable(),
  logo_url: z.string().nullable(),
  logo_path: logoPathField(),
  privacy_url: z.string().nullable(),
  homepage_url: z.string().nullable(),
  install_url: z.string().nullable(),
  support_email: z.string().nullable(),
  redirect_uris: z.array(z.string()),
  requested_scopes: z.array(z.string()),
  screenshots: z.array(ScreenshotSchema()),
  jwks: shownClientKeys().nullable(),
  status: z.enum(APP_STATUSES),
  status_reason: z
    .string()
    .nullable()
    .meta({ description: 'Reason given by moderation for rejecting or suspending the app.' }),
  verified: z.boolean(),
  pending_revision: z
    .object({
      id: idField('arv'),
      changes: z
        .object({ ...moderatedFields(), screenshots: z.array(ScreenshotSchema()) })
        .partial()
        .meta({ description: 'New values, only of the fields that change. Null removes an address.' }),
      logo_path: logoPathField().nullable().meta({
        description: 'Path of the new logo as the platform would serve it. Null if the logo doesn’t change.',
      }),
      badge_withheld: z.boolean().meta({
        description: 'True if it changes the name, logo or a domain: the app has no verified badge until the decision.',
      }),
      submitted_at: time(),
    })
    .nullable()
    .meta({
      description:
        'Changes of an approved app that wait for moderation. The other fields show what is live. Null if none wait.',
    }),
  client_id: z.string().meta({ description: 'OAuth client id, equal to the app’s id.' }),
  promoted_version: z.string().nullable().meta({ description: 'Version that new installations get.' }),
  test_run_at: time().nullable().meta({ description: 'Time of the last successful test run.' }),
  submitted_at: time().nullable(),
  approved_at: time().nullable(),
  created_at: time(),
  updated_at: time(),
})

/** App as its developer sees it (contract/apps-and-manifests.md#apps). */
export const AppSchema = () => z.object(app()).meta({ id: 'App' })

const standardWebhooksSecret = () =>
  z.string().meta({ description: 'The signing secret for libraries of Standard Webhooks.', example: 'whsec_…' })

/** New app with its secrets, which are shown only once. */
export const CreatedAppSchema = () =>
  z
    .object({
      ...app(),
      client_secret: z.string().meta({ description: 'OAuth client secret. Shown only once.' }),
      signing_secret: z
        .string()
        .meta({ description: 'Secret that signs run.execute. Shown only once.', example: 'agsec_…' }),
      standard_webhooks_secret: standardWebhooksSecret(),
    })
    .meta({ id: 'CreatedApp' })

/** Response of `POST /api/v1/dev/apps/{id}/rotate-secret`. */
export const ClientSecretSchema = () =>
  z
    .object({
      client_id: z.string().meta({ description: 'OAuth client id, equal to the app’s id.' }),
      client_secret: z.string().meta({ description: 'The new OAuth client secret. Shown only once.', example: 'cs_…' }),
    })
    .meta({ id: 'ClientSecret' })

/** Body of `POST /api/v1/dev/apps/{id}/rotate-signing-secret`. */
export const RotateSigningSecret = () =>
  z
    .strictObject({
      overlap_hours: z.int().min(1).max(168).optional().meta({
        description: 'Hours for which the previous secret also signs. By default it ends at once.',
        example: 24,
      }),
    })
    .meta({ id: 'RotateSigningSecret' })

export const SigningSecretSchema = () =>
  z
    .object({
      signing_secret: z
        .string()
        .meta({ description: 'New secret that signs run.execute. Shown only once.', example: 'agsec_…' }),
      standard_webhooks_secret: standardWebhooksSecret(),
    })
    .meta({ id: 'SigningSecret' })

export type SigningSecretView = z.infer<ReturnType<typeof SigningSecretSchema>>

export type ClientSecretView = z.infer<ReturnType<typeof ClientSecretSchema>>

export type AppView = z.infer<ReturnType<typeof AppSchema>>

export type CreatedAppView = z.infer<ReturnType<typeof CreatedAppSchema>>
