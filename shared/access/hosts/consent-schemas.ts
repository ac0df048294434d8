import * as z from 'zod'
import { idField, ScopeSchema, time } from '#shared/foundation/schemas/index.ts'
import { ROLES } from '#shared/identity/people/index.ts'
import { HOST_SCOPES, STEP_UP_SCOPES } from '#shared/kernel/host-resources.ts'

const BLOCKED = ['hosts_disabled', 'host_not_allowed', 'workspace_suspended'] as const

/** The screen of `/connect/consent` (contract/connect.md#consent-to-a-host). */
export const HostConsentRequestSchema = () =>
  z
    .object({
      client: z.object({
        name: z.string().meta({ description: 'The name that the client gives itself. Nobody has verified it.' }),
        host: z.string().meta({ description: 'Host of its document, or that of the return address.' }),
        kind: z.enum(['document', 'registered']).meta({
          description: '`document`: its name comes from its own host. `registered`: anybody could have registered it.',
        }),
      }),
      scopes: z.array(ScopeSchema()),
      agent: z
        .string()
        .nullable()
        .meta({ description: 'Slug of the only agent that the access is for; null for all.' }),
      protocol: z.enum(['mcp', 'a2a']).meta({ description: 'Protocol over which the access works.' }),
      workspaces: z.array(
        z.object({
          id: idField('ws'),
          name: z.string(),
          is_sandbox: z.boolean(),
          role: z.enum(ROLES),
          blocked_by: z.enum(BLOCKED).nullable().meta({ description: 'Why this workspace can’t be chosen.' }),
          denied_scopes: z.array(z.string()),
          granted_scopes: z.null(),
        }),
      ),
      claimed: z.boolean().meta({ description: 'True if nobody else can open this link any more.' }),
      redirect_host: z
        .string()
        .meta({ description: 'Host to which the person returns.', example: 'assistant.example' }),
      loopback: z.boolean().meta({ description: 'The person returns to a program on their own machine.' }),
      expires_at: time(),
      expires_in: z.number().int().min(0),
    })
    .meta({ id: 'HostConsentRequest' })

export type HostConsentRequestView = z.infer<ReturnType<typeof HostConsentRequestSchema>>

const ASKABLE = [...HOST_SCOPES, ...STEP_UP_SCOPES] as const

/** Body of `POST /connect/consent/decision`. */
export const DecideHostConsent = () =>
  z
    .strictObject({
      tg: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the tg of the consent address'),
      decision: z.enum(['approve', 'deny']),
      workspace_id: z
        .string()
        .max(64)
        .optional()
        .meta({ description: 'Default: the workspace that the console token was issued for.' }),
      scopes: z
        .array(z.enum(ASKABLE))
        .max(ASKABLE.length)
        .optional()
        .meta({ description: 'Scopes to grant, out of those requested. Default: those that aren’t sensitive.' }),
      entry: z.enum(['page', 'mini_app']).optional().meta({
        description: '`mini_app` needs a session created from the messaging app’s init data. Default: `page`.',
      }),
    })
    .meta({ id: 'DecideHostConsent' })

export type DecideHostConsentInput = z.infer<ReturnType<typeof DecideHostConsent>>
