import * as z from 'zod'
import { ROLES } from '../../entities/people.ts'
import { SECOND } from '../../kernel/clock.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { idField, line, time } from '../fields.ts'

/** `POST /console/session`: a session for local development (decisions §9). */
export const ProvisionSession = () =>
  z
    .strictObject({
      user: line(100)
        .optional()
        .meta({ description: 'Who: the same text is the same person. Default: `local-user`.', example: 'ann' }),
      workspace: line(100).optional().meta({
        description:
          'Where: the same text is the same workspace; or the id of one that exists. Default: the person’s own.',
        example: 'acme',
      }),
      role: z.enum(ROLES).optional().meta({
        description: 'The person’s role there from now on. Default: the one they have; `owner` for a newcomer.',
      }),
    })
    .meta({ id: 'ProvisionSession' })

export type ProvisionInput = z.infer<ReturnType<typeof ProvisionSession>>

/** In its canonical form, however it is written. */
const locale = () =>
  z
    .string()
    .max(35)
    .transform((tag, context) => {
      try {
        const [canonical] = Intl.getCanonicalLocales(tag)
        if (canonical !== undefined) return canonical
      } catch {
        // Falls through: it is no tag.
      }
      context.addIssue({ code: 'custom', message: 'must be a language tag (BCP 47)', input: tag })
      return z.NEVER
    })
    .meta({ description: 'BCP 47.', example: 'de-CH' })

const timeZone = () =>
  z
    .string()
    .max(60)
    .transform((zone, context) => {
      // An offset is taken by Intl, too, but names no zone.
      if (zone === 'UTC' || /^[A-Za-z]+\/[A-Za-z0-9_+/-]+$/.test(zone)) {
        try {
          return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
        } catch {
          // Falls through: there is no such zone.
        }
      }
      context.addIssue({ code: 'custom', message: 'must be a time zone of the IANA database', input: zone })
      return z.NEVER
    })
    .meta({ description: 'IANA.', example: 'Europe/Zurich' })

const userShape = () =>
  z.object({ id: idField('usr'), name: z.string(), locale: z.string(), time_zone: z.string() }).meta({ id: 'User' })

const workspaceShape = () =>
  z
    .object({
      id: idField('ws'),
      name: z.string(),
      is_sandbox: z.boolean(),
      status: z.enum(['active', 'suspended', 'deleting']).meta({
        description:
          'suspended, deleting: its agents can do nothing. An owner takes a deletion back with POST /console/workspace/restore.',
      }),
      deletes_at: time().nullable().meta({ description: 'When its data is removed, while it is deleting.' }),
      role: z.enum(ROLES).meta({ description: 'What the person is in it.' }),
      locale: z.string(),
      time_zone: z.string(),
    })
    .meta({ id: 'ConsoleWorkspace' })

/** What every console sign-in answers. */
export const ConsoleSessionSchema = () =>
  z
    .object({
      token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int().meta({ description: 'Seconds.', example: 43_200 }),
      user: userShape(),
      workspace: workspaceShape(),
    })
    .meta({ id: 'ConsoleSession' })

/** `GET /console/me`. */
export const ConsoleIdentitySchema = () =>
  z
    .object({
      user: userShape(),
      workspace: workspaceShape(),
      workspaces: z
        .array(z.object({ id: idField('ws'), name: z.string(), is_sandbox: z.boolean(), role: z.enum(ROLES) }))
        .meta({ description: 'Where the person can switch to, this one included; the first 50 that were founded.' }),
      bans: z
        .object({ denied_tools: z.array(z.string()), denied_scopes: z.array(z.string()) })
        .meta({ description: 'What admins of the workspace forbade.' }),
      cross_agent_enabled: z.boolean().meta({ description: 'Whether agents may call each other here.' }),
    })
    .meta({ id: 'ConsoleIdentity' })

/** `PATCH /console/me`. */
export const EditProfile = () =>
  z
    .strictObject({
      name: line(100).optional().meta({
        description: 'Signing in through the messaging app brings the name back that the person has there.',
      }),
      locale: locale().optional(),
      time_zone: timeZone().optional(),
    })
    .meta({ id: 'EditProfile' })

/** `PATCH /console/workspace`. */
export const EditWorkspace = () =>
  z
    .strictObject({ name: line(100).optional(), locale: locale().optional(), time_zone: timeZone().optional() })
    .meta({ id: 'EditWorkspace' })

export type EditProfileInput = z.infer<ReturnType<typeof EditProfile>>
export type EditWorkspaceInput = z.infer<ReturnType<typeof EditWorkspace>>

/** The signed-in person. */
export const UserSchema = userShape

/** A workspace as its members see it. */
export const WorkspaceSchema = workspaceShape

/** `POST /console/session/workspace`. */
export const SwitchWorkspace = () =>
  z.strictObject({ workspace_id: z.string().meta({ description: 'One of `workspaces` of `GET /console/me`.' }) }).meta({
    id: 'SwitchWorkspace',
  })

/** A person in a workspace. */
export const MemberSchema = () =>
  z
    .object({ id: idField('usr'), name: z.string(), role: z.enum(ROLES), joined_at: time() })
    .meta({ id: 'WorkspaceMember' })

/** `PATCH /console/members/{id}`. */
export const ChangeRole = () => z.strictObject({ role: z.enum(ROLES) }).meta({ id: 'ChangeRole' })

/** `POST /console/invitations` (decisions §3). */
export const Invite = () =>
  z
    .strictObject({
      role: z
        .enum(ROLES)
        .default('member')
        .meta({ description: 'What the person becomes. Never above the inviter’s own role.' }),
      expires_in: z
        .int()
        .min(60)
        .max(LIMITS.invitationLife / SECOND)
        .default(LIMITS.invitationLife / SECOND)
        .meta({ description: 'Seconds; 7 days at most.' }),
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

/** An invitation that can still be used. */
export const InvitationSchema = () => z.object(invitationShape()).meta({ id: 'Invitation' })

/** A new invitation, with what it is worth. */
export const IssuedInvitationSchema = () =>
  z
    .object({
      ...invitationShape(),
      start_parameter: z.string().meta({
        description: 'Shown once. The link is `<url of GET /console/bot/info>?start=<start_parameter>`.',
        example: 'join_…',
      }),
    })
    .meta({ id: 'IssuedInvitation' })

export type MemberView = z.infer<ReturnType<typeof MemberSchema>>
export type InvitationView = z.infer<ReturnType<typeof InvitationSchema>>
export type IssuedInvitationView = z.infer<ReturnType<typeof IssuedInvitationSchema>>
export type ConsoleSessionView = z.infer<ReturnType<typeof ConsoleSessionSchema>>
export type ConsoleIdentityView = z.infer<ReturnType<typeof ConsoleIdentitySchema>>
