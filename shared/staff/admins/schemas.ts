import * as z from 'zod'
import { emailAddress, idField, keyDays, name, time } from '#shared/foundation/schemas/index.ts'

/** Body of `POST /admin/auth/login`. */
export const SignIn = () =>
  z
    .strictObject({
      email: z.string().trim().min(1).max(254).meta({ example: 'admin@example.com' }),
      password: z.string().min(1).max(1_000),
    })
    .meta({ id: 'AdminSignIn' })

const ADMIN_ROLES = ['superadmin', 'moderator'] as const

const admin = () => ({
  id: idField('adm'),
  email: z.string(),
  name: z.string(),
  role: z.enum(ADMIN_ROLES),
  created_at: time(),
})

/** Admin of the platform. */
export const AdminSchema = () => z.object(admin()).meta({ id: 'Admin' })

const NEXT_STEPS = ['confirm', 'add_passkey'] as const

export type NextStep = (typeof NEXT_STEPS)[number]

const nextStep = () =>
  z.enum(NEXT_STEPS).nullable().meta({
    description:
      'Step that completes the sign-in: `confirm` with a passkey (POST /admin/me/confirm/passkey/options), or `add_passkey` (POST /admin/me/passkeys/options). Until then the token can do nothing else. Null if the sign-in is complete.',
    example: null,
  })

/** Response of `GET /admin/me`. */
export const AdminIdentitySchema = () =>
  z
    .object({
      ...admin(),
      session: z
        .object({
          id: idField('ase'),
          next_step: nextStep(),
          confirm_with: z
            .enum(['password', 'passkey'])
            .meta({ description: 'Credential that confirms your identity.' }),
          confirmed_until: time().meta({
            description: 'Until then, sensitive actions don’t ask for a confirmation.',
          }),
        })
        .nullable()
        .meta({ description: 'The session of this call. Null if a key was used.' }),
      key_name: z.string().nullable().meta({ description: 'Name of the key used for this call. Null for a session.' }),
    })
    .meta({ id: 'AdminIdentity' })

export const SignedInSchema = () =>
  z
    .object({
      token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int().meta({ description: 'Seconds until the token expires.', example: 28_800 }),
      admin: AdminSchema(),
      next_step: nextStep(),
    })
    .meta({ id: 'AdminSignedIn' })

/** Requires length rather than kinds of characters (NIST SP 800-63B). Fits a passphrase, but not a denial of service. */
const password = () =>
  z
    .string()
    .min(12, 'must have at least 12 characters')
    .max(1_000)
    .meta({ description: 'At least 12 characters.', example: 'correct horse battery staple' })

const email = () =>
  z
    .string()
    .trim()
    .toLowerCase()
    .max(254)
    .pipe(emailAddress())
    .meta({ description: 'Unique, ignoring case.', example: 'mo@example.com' })

const settable = () => ({
  email: email(),
  name: name(100).meta({ example: 'Mo' }),
  role: z.enum(ADMIN_ROLES),
  password: password(),
})

/** Body of `POST /admin/admins`. */
export const CreateAdmin = () => z.strictObject(settable()).meta({ id: 'CreateAdmin' })

/** Body of `PATCH /admin/admins/{id}`. */
export const EditAdmin = () => z.strictObject(settable()).partial().meta({ id: 'EditAdmin' })

/** Body of `POST /admin/me/password`. */
export const ChangePassword = () =>
  z
    .strictObject({
      current_password: z.string().min(1).max(1_000),
      new_password: password(),
      keep_keys: z
        .boolean()
        .default(false)
        .meta({ description: 'True keeps the account’s admin keys. By default they end with the old password.' }),
    })
    .meta({ id: 'ChangeAdminPassword' })

/** Body of `POST /admin/me/confirm/password`. */
export const ConfirmPassword = () =>
  z.strictObject({ password: z.string().min(1).max(1_000) }).meta({ id: 'ConfirmPassword' })

/** Response of a confirmation. */
export const ConfirmedSchema = () =>
  z
    .object({
      confirmed_until: time().meta({ description: 'Until then, sensitive actions don’t ask for a confirmation.' }),
    })
    .meta({ id: 'AdminConfirmed' })

/** Session of an admin. */
export const AdminSessionSchema = () =>
  z
    .object({
      id: idField('ase'),
      current: z.boolean().meta({ description: 'True for the session of this call.' }),
      source_ip: z.string().nullable().meta({ description: 'Address that signed in.', example: '203.0.113.7' }),
      user_agent: z
        .string()
        .nullable()
        .meta({ description: 'Browser that signed in, as it describes itself.', example: 'Mozilla/5.0 (Macintosh)' }),
      confirmed_with: z.enum(['password', 'passkey']).meta({ description: 'Last proof that the admin is there.' }),
      created_at: time(),
      expires_at: time(),
    })
    .meta({ id: 'AdminSession' })

/** Body of `POST /admin/admins/{id}/keys`. */
export const CreateAdminKey = () =>
  z
    .strictObject({
      name: name(100).meta({ description: 'Name of the key in the audit log.', example: 'ci' }),
      expires_in_days: keyDays(),
    })
    .meta({ id: 'CreateAdminKey' })

/** Body of `POST /admin/admins/{id}/keys/{key}/rotate`. */
export const RotateAdminKey = () => z.strictObject({ expires_in_days: keyDays() }).meta({ id: 'RotateAdminKey' })

const key = () => ({
  id: idField('aky'),
  name: z.string(),
  created_by: z
    .string()
    .meta({ description: 'The admin who created the key, or `operator` if it was created by the command.' }),
  created_at: time(),
  rotated_at: time().nullable(),
  expires_at: time(),
})

export const AdminKeySchema = () => z.object(key()).meta({ id: 'AdminKey' })

export const NewAdminKeySchema = () =>
  z
    .object({ ...key(), key: z.string().meta({ description: 'The key. Shown only once.', example: 'adk_…' }) })
    .meta({ id: 'NewAdminKey' })

export type AdminView = z.infer<ReturnType<typeof AdminSchema>>

export type SignedInView = z.infer<ReturnType<typeof SignedInSchema>>

export type CreateAdminInput = z.infer<ReturnType<typeof CreateAdmin>>

export type EditAdminInput = z.infer<ReturnType<typeof EditAdmin>>

export type AdminKeyView = z.infer<ReturnType<typeof AdminKeySchema>>

export type NewAdminKeyView = z.infer<ReturnType<typeof NewAdminKeySchema>>

export type ConfirmedView = z.infer<ReturnType<typeof ConfirmedSchema>>

export type AdminSessionView = z.infer<ReturnType<typeof AdminSessionSchema>>
