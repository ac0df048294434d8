import * as z from 'zod'
import { APP_STATUSES } from '../../entities/apps.ts'
import { CATEGORIES } from '../../kernel/categories.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { nearest } from '../../kernel/nearest.ts'
import { SCOPE_NAMES } from '../../kernel/scopes.ts'
import { emailAddress, idField, line, time } from '../fields.ts'
import { redirectAddress, webAddress } from './addresses.ts'

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
    .max(LIMITS.redirectUrisPerApp, `at most ${LIMITS.redirectUrisPerApp} addresses`)
    .transform((list) => [...new Set(list)])
    .meta({
      description:
        'Where authorization may send people back to: https, compared character for character. No fragment, and no `code`, `state`, `iss` or `error…` in the query.',
    })

const editable = () => ({
  name: line(80).meta({ example: 'Stock helper' }),
  summary: z.string().trim().max(300).meta({ example: 'Answers questions about the stock of a shop.' }),
  description: z.string().max(8_000),
  category: z
    .enum(CATEGORIES)
    .nullable()
    .meta({ description: 'Where the marketplace shows it; null for nowhere in particular.', example: 'support' }),
  logo_url: webAddress().nullable(),
  privacy_url: webAddress().nullable(),
  homepage_url: webAddress().nullable(),
  install_url: webAddress().nullable(),
  support_email: emailAddress().nullable(),
  redirect_uris: redirectUris(),
  requested_scopes: scopes(),
})

/** Slug: 3–40 of `a-z0-9-`, not starting or ending with `-` (decisions §9). */
const slug = () =>
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$/, 'must have 3 to 40 of a-z, 0-9 and -, and not start or end with -')
    .meta({ description: 'Unique on the platform; fixed after creation.', example: 'stock-helper' })

/** `POST /api/v1/dev/apps`. */
export const CreateApp = () => {
  const { name, ...rest } = editable()
  return z
    .strictObject({ slug: slug(), type: z.enum(['agent', 'integration']), name })
    .extend(z.strictObject(rest).partial().shape)
    .meta({ id: 'CreateApp' })
}

/** `PATCH /api/v1/dev/apps/{id}`: what is sent changes, lists are replaced whole, null removes an address. */
export const EditApp = () => z.strictObject(editable()).partial().meta({ id: 'EditApp' })

export type CreateAppInput = z.infer<ReturnType<typeof CreateApp>>
export type EditAppInput = z.infer<ReturnType<typeof EditApp>>

const app = () => ({
  id: idField('app'),
  slug: z.string(),
  type: z.enum(['agent', 'integration']),
  name: z.string(),
  summary: z.string(),
  description: z.string(),
  category: z.string().nullable(),
  logo_url: z.string().nullable(),
  privacy_url: z.string().nullable(),
  homepage_url: z.string().nullable(),
  install_url: z.string().nullable(),
  support_email: z.string().nullable(),
  redirect_uris: z.array(z.string()),
  requested_scopes: z.array(z.string()),
  status: z.enum(APP_STATUSES),
  status_reason: z.string().nullable().meta({ description: 'Why moderation rejected or suspended it.' }),
  verified: z.boolean(),
  client_id: z.string().meta({ description: 'OAuth client id: the app’s id.' }),
  promoted_version: z.string().nullable().meta({ description: 'The version that new installations get.' }),
  test_run_at: time().nullable().meta({ description: 'When a test run last succeeded.' }),
  submitted_at: time().nullable(),
  approved_at: time().nullable(),
  created_at: time(),
  updated_at: time(),
})

/** An app as its developer sees it (specification "App"). */
export const AppSchema = () => z.object(app()).meta({ id: 'App' })

/** A new app with its secrets, which are shown this once. */
export const CreatedAppSchema = () =>
  z
    .object({
      ...app(),
      client_secret: z.string().meta({ description: 'OAuth client secret, shown once.' }),
      signing_secret: z.string().meta({ description: 'Signs run.execute; shown once.', example: 'agsec_…' }),
    })
    .meta({ id: 'CreatedApp' })

/** `POST /api/v1/dev/apps/{id}/rotate-secret`. */
export const ClientSecretSchema = () =>
  z
    .object({
      client_id: z.string().meta({ description: 'OAuth client id: the app’s id.' }),
      client_secret: z.string().meta({ description: 'The new OAuth client secret, shown once.', example: 'cs_…' }),
    })
    .meta({ id: 'ClientSecret' })

/** `POST /api/v1/dev/apps/{id}/rotate-signing-secret`. */
export const RotateSigningSecret = () =>
  z
    .strictObject({
      overlap_hours: z.int().min(1).max(168).optional().meta({
        description: 'For so long the secret of before signs too. Absent: it ends at once.',
        example: 24,
      }),
    })
    .meta({ id: 'RotateSigningSecret' })

export const SigningSecretSchema = () =>
  z
    .object({
      signing_secret: z
        .string()
        .meta({ description: 'Signs run.execute from now on; shown once.', example: 'agsec_…' }),
    })
    .meta({ id: 'SigningSecret' })

export type SigningSecretView = z.infer<ReturnType<typeof SigningSecretSchema>>
export type ClientSecretView = z.infer<ReturnType<typeof ClientSecretSchema>>
export type AppView = z.infer<ReturnType<typeof AppSchema>>
export type CreatedAppView = z.infer<ReturnType<typeof CreatedAppSchema>>
