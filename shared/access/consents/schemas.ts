import * as z from 'zod'
import { similarToField } from '#shared/catalogue/apps/index.ts'
import { logoPathField } from '#shared/catalogue/logos/index.ts'
import { idField, ScopeSchema, time } from '#shared/foundation/schemas/index.ts'
import { ROLES } from '#shared/identity/people/index.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'
import { BLOCKS } from '../installations/blocks.ts'

/** The nonce of a consent address. At most 64 of `A-Za-z0-9_-`, the limit for a start parameter of a messaging app. */
const nonce = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the tg of the consent address')
    .meta({ description: 'The `tg` of the consent address.', example: '9hVtqOZzQk2n1cF0bXyG7w' })

/** Query of the requests about a consent link. */
export const ConsentQuery = () => z.strictObject({ tg: nonce() })

/** Seconds for a countdown, because the clock of a person's device may be wrong. */
const secondsLeft = () => z.number().int().min(0).meta({ description: 'Seconds until the link expires.', example: 600 })

/** The consent screen's data (contract/oauth-and-tokens.md#consent). */
export const ConsentRequestSchema = () =>
  z
    .object({
      app: z.object({
        id: idField('app'),
        name: z.string(),
        summary: z.string(),
        logo_url: z.string().nullable(),
        logo_path: logoPathField(),
        developer_name: z
          .string()
          .meta({ description: 'The developer’s company, or their name.', example: 'Acme Ltd' }),
        verified: z.boolean().meta({ description: 'The platform verified the developer.' }),
        privacy_url: z.string().nullable(),
        similar_to: similarToField(),
      }),
      scopes: z.array(ScopeSchema()),
      workspaces: z.array(
        z.object({
          id: idField('ws'),
          name: z.string(),
          is_sandbox: z.boolean(),
          role: z.enum(ROLES),
          blocked_by: z
            .enum(BLOCKS)
            .nullable()
            .meta({ description: 'Why this workspace can’t be chosen; null if it can.' }),
          denied_scopes: z
            .array(z.string())
            .meta({ description: 'Scopes that an admin of the workspace has blocked.' }),
          granted_scopes: z
            .array(z.string())
            .nullable()
            .meta({ description: 'Scopes that the app has there now; null if it isn’t installed.' }),
        }),
      ),
      claimed: z.boolean().meta({
        description:
          'True if the link is now this person’s alone. False if they can’t approve it in the workspace of their ' +
          'session, so that somebody who can may still open it.',
        example: true,
      }),
      redirect_host: z.string().meta({ description: 'Host that the person returns to.', example: 'client.example' }),
      expires_at: time(),
      expires_in: secondsLeft(),
    })
    .meta({ id: 'ConsentRequest' })

/** Response of `GET /oauth/consent/status`, for a page that handed over to the messaging app. */
export const ConsentStatusSchema = () =>
  z
    .object({
      over: z.boolean().meta({
        description: 'True if the link was decided, has expired or never existed. The response doesn’t say which.',
      }),
      expires_at: time().nullable(),
      expires_in: secondsLeft().nullable(),
      app: z.object({ name: z.string(), developer_name: z.string(), verified: z.boolean() }).nullable().meta({
        description: 'The app that asks, so that a person knows it before they sign in. Null if the link is over.',
      }),
    })
    .meta({ id: 'ConsentStatus' })

/** Body of `POST /oauth/consent/decision`. */
export const DecideConsent = () =>
  z
    .strictObject({
      tg: nonce(),
      decision: z.enum(['approve', 'deny']),
      workspace_id: z
        .string()
        .max(64)
        .optional()
        .meta({ description: 'Default: the workspace that the console token was issued for.' }),
      scopes: z
        .array(z.enum(SCOPE_NAMES))
        .max(SCOPE_NAMES.length)
        .optional()
        .meta({ description: 'Scopes to grant, out of those requested. Default: all.' }),
      entry: z.enum(['page', 'mini_app']).optional().meta({
        description:
          'Where the person decides. `mini_app` needs a session created from the messaging app’s init data. Default: `page`.',
      }),
    })
    .meta({ id: 'DecideConsent' })

export const ConsentDecidedSchema = () =>
  z
    .object({
      redirect_to: z.string().meta({ description: 'Address to send the browser to. It may contain the code.' }),
    })
    .meta({ id: 'ConsentDecided' })

export type ConsentStatusView = z.infer<ReturnType<typeof ConsentStatusSchema>>

export type ConsentRequestView = z.infer<ReturnType<typeof ConsentRequestSchema>>

export type DecideConsentInput = z.infer<ReturnType<typeof DecideConsent>>
