import * as z from 'zod'
import { ROLES } from '../../entities/people.ts'
import { SCOPE_NAMES } from '../../kernel/scopes.ts'
import { idField, time } from '../fields.ts'
import { ScopeSchema } from '../oauth/scopes.ts'

/** The nonce of a consent address: at most 64 of `A-Za-z0-9_-`, as a messaging-app start parameter takes it. */
const nonce = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the tg of the consent address')
    .meta({ description: 'The `tg` of the consent address.' })

/** Query of what is asked about a link. */
export const ConsentQuery = () => z.strictObject({ tg: nonce() })

/** Why a workspace cannot be chosen. */
const BLOCKS = ['admin_required', 'app_not_approved', 'installation_suspended'] as const
export type Block = (typeof BLOCKS)[number]

/** A countdown starts from this: the clock of a person's device may be wrong. */
const secondsLeft = () => z.number().int().min(0).meta({ description: 'Seconds until the link is over.', example: 600 })

/** What the consent screen shows (decisions §9). */
export const ConsentRequestSchema = () =>
  z
    .object({
      app: z.object({
        id: idField('app'),
        name: z.string(),
        summary: z.string(),
        logo_url: z.string().nullable(),
        developer_name: z.string().meta({ description: 'The developer’s company, or name.', example: 'Acme Ltd' }),
        verified: z.boolean().meta({ description: 'The platform verified the developer.' }),
        privacy_url: z.string().nullable(),
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
            .meta({ description: 'Why this workspace cannot be chosen; null when it can.' }),
          denied_scopes: z.array(z.string()).meta({ description: 'Scopes that an admin of the workspace forbade.' }),
          granted_scopes: z
            .array(z.string())
            .nullable()
            .meta({ description: 'What the app may do there now; null where it is not installed.' }),
        }),
      ),
      redirect_host: z.string().meta({ description: 'Where the person is sent back to.', example: 'client.example' }),
      expires_at: time(),
      expires_in: secondsLeft(),
    })
    .meta({ id: 'ConsentRequest' })

/** `GET /oauth/consent/status`: for a page that handed over to the messaging app. */
export const ConsentStatusSchema = () =>
  z
    .object({
      over: z.boolean().meta({ description: 'Decided, expired or never there: which of them is not told.' }),
      expires_at: time().nullable(),
      expires_in: secondsLeft().nullable(),
    })
    .meta({ id: 'ConsentStatus' })

/** `POST /oauth/consent/decision`. */
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
        .meta({ description: 'What is granted of what was asked for. Default: all.' }),
      entry: z.enum(['page', 'mini_app']).optional().meta({
        description:
          'Where the person decides. `mini_app` takes a session that was made from the messaging app’s init data. Default: `page`.',
      }),
    })
    .meta({ id: 'DecideConsent' })

export const ConsentDecidedSchema = () =>
  z
    .object({ redirect_to: z.string().meta({ description: 'Where the browser goes now; it may hold the code.' }) })
    .meta({ id: 'ConsentDecided' })

export type ConsentStatusView = z.infer<ReturnType<typeof ConsentStatusSchema>>
export type ConsentRequestView = z.infer<ReturnType<typeof ConsentRequestSchema>>
export type DecideConsentInput = z.infer<ReturnType<typeof DecideConsent>>
