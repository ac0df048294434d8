import * as z from 'zod'
import { emailAddress, idField, keyDays, name, time } from '#shared/foundation/schemas/index.ts'
import { SIGN_INS } from '../developers/entity.ts'
import { DEVELOPER_ROLES } from '../developers/roles.ts'

const role = () => z.enum(DEVELOPER_ROLES)

const ROLE_RIGHTS =
  'A `viewer` reads. A `developer` does everything except managing teammates and keys, and deleting apps. An `owner` does everything.'

/** Body of `POST /api/v1/dev/register` (contract/apps-and-manifests.md#developer-accounts). */
export const RegisterDeveloper = () =>
  z
    .strictObject({
      email: z
        .string()
        .trim()
        .max(254)
        .pipe(emailAddress())
        .meta({ description: 'Unique, ignoring case.', example: 'dev@example.com' }),
      name: name(100).meta({ example: 'Ada Example' }),
      company: name(200).optional().meta({ example: 'Example Ltd' }),
    })
    .meta({ id: 'RegisterDeveloper' })

export type RegisterInput = z.infer<ReturnType<typeof RegisterDeveloper>>

const developer = () => ({
  id: idField('dev'),
  email: z.string(),
  email_verified: z.boolean().meta({ description: 'The developer proved that the address is theirs.' }),
  name: z.string(),
  company: z.string().nullable(),
  status: z.enum(['active', 'blocked']),
  vendor: z.string().nullable().meta({
    description:
      'First part of manifest ids. Claimed with `POST /api/v1/dev/me/vendor`, or set by the first published manifest. Then fixed.',
  }),
  verified: z.boolean(),
  created_at: time(),
})

/** Developer account as its owner sees it. */
export const DeveloperSchema = () => z.object(developer()).meta({ id: 'Developer' })

const sandboxWorkspace = () => ({
  id: idField('ws'),
  name: z.string(),
  is_sandbox: z.literal(true),
})

/** Response of `GET /api/v1/dev/me`. */
export const ProfileSchema = () =>
  z
    .object({
      ...developer(),
      sandbox_workspace: z.object(sandboxWorkspace()),
      role: role().meta({ description: `What this request’s key may do. ${ROLE_RIGHTS}` }),
      member: z
        .object({ id: idField('dme'), email: z.string(), name: z.string().nullable() })
        .nullable()
        .meta({ description: 'The teammate who signed in by e-mail or passkey. Null for keys.' }),
    })
    .meta({ id: 'DeveloperProfile' })

/** Teammate in a developer account. */
export const DeveloperMemberSchema = () =>
  z
    .object({
      id: idField('dme'),
      email: z.string(),
      name: z.string().nullable(),
      role: role(),
      status: z.enum(['invited', 'active']),
      joined_at: time().nullable(),
      invitation_expires_at: time().nullable(),
    })
    .meta({ id: 'DeveloperMember' })

/** Body of `POST /api/v1/dev/members`. */
export const InviteMember = () =>
  z
    .strictObject({
      email: z.string().trim().max(254).pipe(emailAddress()).meta({ example: 'bo@example.com' }),
      role: role().meta({ description: ROLE_RIGHTS, example: 'developer' }),
    })
    .meta({ id: 'InviteDeveloperMember' })

/** Body of `PATCH /api/v1/dev/members/{id}`. */
export const EditMember = () => z.strictObject({ role: role() }).meta({ id: 'EditDeveloperMember' })

/** Body of `POST /api/v1/dev/members/join`. */
export const JoinAccount = () =>
  z
    .strictObject({
      token: name(100).meta({ description: 'The code in the link of the invitation.', example: 'dvt_…' }),
      name: name(100).meta({ example: 'Bo Example' }),
    })
    .meta({ id: 'JoinDeveloperAccount' })

export type InviteInput = z.infer<ReturnType<typeof InviteMember>>

export type JoinInput = z.infer<ReturnType<typeof JoinAccount>>

export type DeveloperMemberView = z.infer<ReturnType<typeof DeveloperMemberSchema>>

/** Response of `POST /api/v1/dev/me/rotate-key`. */
export const DeveloperKeySchema = () =>
  z
    .object({ api_key: z.string().meta({ description: 'The new developer key. Shown only once.', example: 'dvk_…' }) })
    .meta({ id: 'DeveloperKey' })

const inviteLink = () =>
  z.string().meta({
    description: 'Single-use link to join the sandbox workspace as its owner, valid for 7 days.',
    example: 'join_…',
  })

/** Response of `POST /api/v1/dev/sandbox/invite`. */
export const SandboxInviteSchema = () => z.object({ invite_link: inviteLink() }).meta({ id: 'SandboxInvite' })

/** Response of a registration. The key and the link are not shown again. */
export const RegisteredSchema = () =>
  z
    .object({
      developer: DeveloperSchema(),
      api_key: z.string().meta({ description: 'The developer key. Shown only once.', example: 'dvk_…' }),
      sandbox_workspace: z.object({
        ...sandboxWorkspace(),
        invite_link: inviteLink(),
      }),
    })
    .meta({ id: 'RegisteredDeveloper' })

const vendorName = () =>
  z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]{0,38}[a-z0-9]$/,
      'must have 2 to 40 characters of a-z, 0-9 and -, and not start or end with -',
    )

/** Body of `POST /api/v1/dev/me/vendor`. */
export const ClaimVendor = () =>
  z
    .strictObject({
      vendor: vendorName().meta({
        description: 'First part of your manifests’ ids. Fixed once claimed.',
        example: 'acme',
      }),
    })
    .meta({ id: 'ClaimVendor' })

/** Body of `POST /api/v1/dev/me/keys`. */
export const CreateKey = () =>
  z
    .strictObject({
      name: name(100).meta({ description: 'Unique among your keys.', example: 'ci' }),
      role: role()
        .default('owner')
        .meta({ description: `What the key may do. ${ROLE_RIGHTS}`, example: 'developer' }),
      expires_in_days: keyDays(),
    })
    .meta({ id: 'CreateDeveloperKey' })

/** Body of `PATCH /api/v1/dev/me/keys/{id}`. */
export const EditKey = () =>
  z
    .strictObject({ name: name(100).optional().meta({ example: 'ci' }), role: role().optional() })
    .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
      path: ['name'],
      message: 'send name, role, or both',
    })
    .meta({ id: 'EditDeveloperKey' })

export type EditKeyInput = z.infer<ReturnType<typeof EditKey>>

const namedKey = () => ({
  id: idField('dky'),
  name: z.string(),
  role: role(),
  created_at: time(),
  expires_at: time(),
  last_used_at: time().nullable().meta({ description: 'Exact to the hour. Null if the key wasn’t used yet.' }),
})

export const NamedKeySchema = () => z.object(namedKey()).meta({ id: 'NamedDeveloperKey' })

/** New named key. The key is not shown again. */
export const NewNamedKeySchema = () =>
  z
    .object({ ...namedKey(), api_key: z.string().meta({ description: 'The key. Shown only once.', example: 'dvk_…' }) })
    .meta({ id: 'NewNamedDeveloperKey' })

/** Response of `POST /api/v1/dev/me/email-proof`. */
export const EmailProofSchema = () =>
  z
    .object({ email: z.string(), expires_at: time().meta({ description: 'End of the code in the e-mail.' }) })
    .meta({ id: 'EmailProof' })

/** Body of requests that carry a code from an e-mail. */
export const ConfirmEmail = () =>
  z
    .strictObject({
      token: name(100).meta({ description: 'The code in the e-mail.', example: 'dvt_…' }),
    })
    .meta({ id: 'ConfirmEmail' })

/** Body of `POST /api/v1/dev/recover`. */
export const RecoverAccount = () =>
  z
    .strictObject({
      email: z.string().trim().max(254).pipe(emailAddress()).meta({ example: 'dev@example.com' }),
    })
    .meta({ id: 'RecoverAccount' })

export const RecoveryAcceptedSchema = () =>
  z
    .object({
      accepted: z.literal(true).meta({ description: 'If there is such an account, its address gets an e-mail.' }),
    })
    .meta({ id: 'RecoveryAccepted' })

export const RecoveredSchema = () =>
  z
    .object({
      developer: DeveloperSchema(),
      api_key: z.string().meta({ description: 'The new developer key. Shown only once.', example: 'dvk_…' }),
    })
    .meta({ id: 'RecoveredDeveloper' })

/** Body of `POST /api/v1/dev/sandbox/session`. */
export const OpenSandbox = () =>
  z
    .strictObject({
      as: z.enum(['owner', 'customer']).meta({
        description: '`customer` is a made-up person with a member’s rights, who can approve what agents want to do.',
      }),
    })
    .meta({ id: 'OpenSandbox' })

export type OpenSandboxInput = z.infer<ReturnType<typeof OpenSandbox>>

/** Body of `POST /api/v1/dev/session`. */
export const StartSession = () =>
  z
    .strictObject({
      api_key: name(100).optional().meta({ description: 'A developer key.', example: 'dvk_…' }),
      token: name(100).optional().meta({ description: 'The code in the link of a sign-in e-mail.' }),
    })
    .refine(({ api_key, token }) => (api_key === undefined) !== (token === undefined), {
      path: ['api_key'],
      message: 'send either api_key or token',
    })
    .meta({ id: 'StartDeveloperSession' })

/** Response of `POST /api/v1/dev/session`. */
export const DeveloperSessionSchema = () =>
  z
    .object({
      session_key: z.string().meta({ description: 'Works like a developer key, for 12 hours.', example: 'dvs_…' }),
      expires_in: z.int().meta({ description: 'Seconds.' }),
      keys_ended: z.boolean().meta({
        description:
          'The address wasn’t confirmed before, so every earlier key ended: somebody else might have made them.',
      }),
    })
    .meta({ id: 'DeveloperSession' })

/** Session of the developer portal, as owners and its teammate see it. */
export const ListedSessionSchema = () =>
  z
    .object({
      id: idField('dky'),
      current: z.boolean().meta({ description: 'True for the session that asks.' }),
      via: z.enum(SIGN_INS).meta({ description: 'How it was opened.' }),
      member: z
        .object({ id: idField('dme'), email: z.string(), name: z.string().nullable() })
        .nullable()
        .meta({ description: 'The teammate who signed in. Null if a key opened it.' }),
      key: z
        .object({ id: idField('dky'), name: z.string() })
        .nullable()
        .meta({ description: 'The named key that opened it. Null for the main key, and for teammates.' }),
      role: role().meta({ description: 'What it may do now.' }),
      browser: z.string().nullable().meta({ example: 'Firefox' }),
      system: z.string().nullable().meta({ example: 'Linux' }),
      address: z.string().nullable().meta({ description: 'Address that the sign-in came from.', example: '192.0.2.7' }),
      created_at: time(),
      last_used_at: time().meta({ description: 'Last request, to the hour.' }),
      expires_at: time(),
    })
    .meta({ id: 'ListedDeveloperSession' })

export type ListedSessionView = z.infer<ReturnType<typeof ListedSessionSchema>>

export type StartSessionInput = z.infer<ReturnType<typeof StartSession>>

export type DeveloperSessionView = z.infer<ReturnType<typeof DeveloperSessionSchema>>

export type CreateKeyInput = z.infer<ReturnType<typeof CreateKey>>

export type NamedKeyView = z.infer<ReturnType<typeof NamedKeySchema>>

export type NewNamedKeyView = z.infer<ReturnType<typeof NewNamedKeySchema>>

export type RecoveredView = z.infer<ReturnType<typeof RecoveredSchema>>

export type DeveloperView = z.infer<ReturnType<typeof DeveloperSchema>>

export type ProfileView = z.infer<ReturnType<typeof ProfileSchema>>

export type DeveloperKeyView = z.infer<ReturnType<typeof DeveloperKeySchema>>

export type SandboxInviteView = z.infer<ReturnType<typeof SandboxInviteSchema>>

export type RegisteredView = z.infer<ReturnType<typeof RegisteredSchema>>
