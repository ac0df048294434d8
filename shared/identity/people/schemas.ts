import * as z from 'zod'
import { idField, name, time } from '#shared/foundation/schemas/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ROLES } from './entity.ts'

/** Body of `POST /console/session`, for local development (contract/people-and-workspaces.md#signing-in). */
export const ProvisionSession = () =>
  z
    .strictObject({
      user: name(100).optional().meta({
        description: 'Person to sign in as. The same text gives the same person. Default: `local-user`.',
        example: 'ann',
      }),
      workspace: name(100).optional().meta({
        description:
          'Workspace to sign in to, by text or by the id of an existing one. The same text gives the same workspace. Default: the person’s own.',
        example: 'acme',
      }),
      role: z.enum(ROLES).optional().meta({
        description:
          'The person’s new role in the workspace. Default: their current role, or `owner` for a new member.',
      }),
    })
    .meta({ id: 'ProvisionSession' })

export type ProvisionInput = z.infer<ReturnType<typeof ProvisionSession>>

/** Language tag, converted to its canonical form. */
const locale = () =>
  z
    .string()
    .max(35)
    .transform((tag, context) => {
      try {
        const [canonical] = Intl.getCanonicalLocales(tag)
        if (canonical !== undefined) return canonical
      } catch {
        // Falls through: not a valid tag.
      }
      context.addIssue({ code: 'custom', message: 'must be a language tag (BCP 47)', input: tag })
      return z.NEVER
    })
    .meta({ description: 'Language tag (BCP 47).', example: 'de-CH' })

const timeZone = () =>
  z
    .string()
    .max(60)
    .transform((zone, context) => {
      // Intl also accepts an offset, which isn't a zone name.
      if (zone === 'UTC' || /^[A-Za-z]+\/[A-Za-z0-9_+/-]+$/.test(zone)) {
        try {
          return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
        } catch {
          // Falls through: not a known zone.
        }
      }
      context.addIssue({ code: 'custom', message: 'must be an IANA time zone', input: zone })
      return z.NEVER
    })
    .meta({ description: 'IANA time zone.', example: 'Europe/Zurich' })

const userShape = () =>
  z
    .object({
      id: idField('usr'),
      name: z.string(),
      locale: z.string(),
      time_zone: z.string(),
      time_zone_chosen: z
        .boolean()
        .meta({ description: 'False until the time zone is set for the first time. It is UTC until then.' }),
    })
    .meta({ id: 'User' })

const workspaceShape = () =>
  z
    .object({
      id: idField('ws'),
      name: z.string(),
      is_sandbox: z.boolean(),
      status: z.enum(['active', 'suspended', 'deleting']).meta({
        description:
          'Agents can’t work in a workspace that is suspended or deleting. An owner can cancel a deletion with POST /console/workspace/restore.',
      }),
      deletes_at: time()
        .nullable()
        .meta({ description: 'Time at which its data will be removed. Set only while it is deleting.' }),
      role: z.enum(ROLES).meta({ description: 'The person’s role in the workspace.' }),
      locale: z.string(),
      time_zone: z.string(),
    })
    .meta({ id: 'ConsoleWorkspace' })

/** Response of every console sign-in. */
export const ConsoleSessionSchema = () =>
  z
    .object({
      token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int().meta({ description: 'Seconds until the token expires.', example: 43_200 }),
      user: userShape(),
      workspace: workspaceShape(),
    })
    .meta({ id: 'ConsoleSession' })

/** Response of `GET /console/me`. */
export const ConsoleIdentitySchema = () =>
  z
    .object({
      user: userShape(),
      workspace: workspaceShape(),
      workspaces: z
        .array(z.object({ id: idField('ws'), name: z.string(), is_sandbox: z.boolean(), role: z.enum(ROLES) }))
        .meta({
          description: 'Workspaces that the person can switch to, including the current one. Up to 50, oldest first.',
        }),
      bans: z
        .object({ denied_tools: z.array(z.string()), denied_scopes: z.array(z.string()) })
        .meta({ description: 'Tools and scopes that admins of the workspace denied.' }),
      cross_agent_enabled: z.boolean().meta({ description: 'True if agents in this workspace can call each other.' }),
      is_stand_in: z.boolean().meta({
        description: 'True for a person made up for a sandbox, who has neither passkeys nor an e-mail address.',
      }),
    })
    .meta({ id: 'ConsoleIdentity' })

/** Body of `PATCH /console/me`. */
export const EditProfile = () =>
  z
    .strictObject({
      name: name(100).optional().meta({
        description: 'Display name. The next sign-in through the messaging app replaces it with the name there.',
      }),
      locale: locale().optional(),
      time_zone: timeZone().optional(),
    })
    .meta({ id: 'EditProfile' })

/** Body of `PATCH /console/workspace`. */
export const EditWorkspace = () =>
  z
    .strictObject({ name: name(100).optional(), locale: locale().optional(), time_zone: timeZone().optional() })
    .meta({ id: 'EditWorkspace' })

export type EditProfileInput = z.infer<ReturnType<typeof EditProfile>>

export type EditWorkspaceInput = z.infer<ReturnType<typeof EditWorkspace>>

/** Signed-in person. */
export const UserSchema = userShape

/** Workspace as its members see it. */
export const WorkspaceSchema = workspaceShape

/** Body of `POST /console/session/workspace`. */
export const SwitchWorkspace = () =>
  z
    .strictObject({
      workspace_id: z.string().meta({ description: 'Id of one of the `workspaces` in `GET /console/me`.' }),
    })
    .meta({
      id: 'SwitchWorkspace',
    })

/** Member of a workspace. */
export const MemberSchema = () =>
  z
    .object({ id: idField('usr'), name: z.string(), role: z.enum(ROLES), joined_at: time() })
    .meta({ id: 'WorkspaceMember' })

/** Member of a workspace as their colleagues see them in the console. */
export const ConsoleMemberSchema = () =>
  z
    .object({
      id: idField('usr'),
      name: z.string(),
      role: z.enum(ROLES),
      joined_at: time(),
      last_active_at: time().nullable().meta({ description: 'Last activity here, to the hour; null if unknown.' }),
      contact: z.string().nullable().meta({
        description: 'Address of their chat in the messaging app, if they have a public handle there.',
        example: 'https://t.me/ann',
      }),
    })
    .meta({ id: 'ConsoleMember' })

export type ConsoleMemberView = z.infer<ReturnType<typeof ConsoleMemberSchema>>

/** Session of the person (contract/people-and-workspaces.md#devices). */
export const SessionSchema = () =>
  z
    .object({
      id: idField('ses'),
      current: z.boolean().meta({ description: 'True for the session that asks.' }),
      via: z.enum(['provisioned', 'init_data', 'widget', 'passkey', 'stand_in']),
      browser: z.string().nullable().meta({ example: 'Firefox' }),
      system: z.string().nullable().meta({ example: 'Linux' }),
      address: z.string().nullable().meta({ description: 'Address that the sign-in came from.', example: '192.0.2.7' }),
      created_at: time(),
      last_used_at: time().meta({ description: 'Last request, to the hour.' }),
      expires_at: time(),
    })
    .meta({ id: 'PersonSession' })

export type SessionView = z.infer<ReturnType<typeof SessionSchema>>

/** Body of `PATCH /console/members/{id}`. */
export const ChangeRole = () => z.strictObject({ role: z.enum(ROLES) }).meta({ id: 'ChangeRole' })

/** Body of `POST /console/invitations` (contract/people-and-workspaces.md#members-and-invitations). */
export const Invite = () =>
  z
    .strictObject({
      role: z
        .enum(ROLES)
        .default('member')
        .meta({ description: 'Role of the invited person. At most the inviter’s own role.' }),
      expires_in: z
        .int()
        .min(60)
        .max(LIMITS.invitationLife / SECOND)
        .default(LIMITS.invitationLife / SECOND)
        .meta({ description: 'Seconds until the invitation expires, at most 7 days.' }),
    })
    .meta({ id: 'Invite' })

export type InviteInput = z.infer<ReturnType<typeof Invite>>

const invitationShape = () => ({
  id: idField('inv'),
  role: z.enum(ROLES),
  created_by: z.object({ id: idField('usr'), name: z.string() }),
  created_at: time(),
  expires_at: time(),
})

/** Valid invitation. */
export const InvitationSchema = () => z.object(invitationShape()).meta({ id: 'Invitation' })

/** New invitation with its link. */
export const IssuedInvitationSchema = () =>
  z
    .object({
      ...invitationShape(),
      start_parameter: z.string().meta({
        description: 'Shown only once. The link is `<url of GET /console/bot/info>?start=<start_parameter>`.',
        example: 'join_…',
      }),
    })
    .meta({ id: 'IssuedInvitation' })

export type MemberView = z.infer<ReturnType<typeof MemberSchema>>

export type InvitationView = z.infer<ReturnType<typeof InvitationSchema>>

export type IssuedInvitationView = z.infer<ReturnType<typeof IssuedInvitationSchema>>

export type ConsoleSessionView = z.infer<ReturnType<typeof ConsoleSessionSchema>>

export type ConsoleIdentityView = z.infer<ReturnType<typeof ConsoleIdentitySchema>>
