import * as z from 'zod'
import { emailAddress, idField, line, time } from '../fields.ts'

/** `POST /admin/auth/login`. */
export const SignIn = () =>
  z
    .strictObject({
      email: z.string().trim().min(1).max(254).meta({ example: 'admin@example.com' }),
      password: z.string().min(1).max(1_000),
    })
    .meta({ id: 'AdminSignIn' })

const ADMIN_ROLES = ['superadmin', 'moderator'] as const

const admin = {
  id: idField('adm'),
  email: z.string(),
  name: z.string(),
  role: z.enum(ADMIN_ROLES),
  created_at: time(),
}

/** A member of the platform's staff. */
export const AdminSchema = () => z.object(admin).meta({ id: 'Admin' })

/** `GET /admin/me`. */
export const AdminIdentitySchema = () =>
  z
    .object({
      ...admin,
      key_name: z
        .string()
        .nullable()
        .meta({ description: 'The key that this call was made with; null for a session.' }),
    })
    .meta({ id: 'AdminIdentity' })

export const SignedInSchema = () =>
  z
    .object({
      token: z.string(),
      token_type: z.literal('Bearer'),
      expires_in: z.number().int().meta({ description: 'Seconds.', example: 28_800 }),
      admin: AdminSchema(),
    })
    .meta({ id: 'AdminSignedIn' })

/** NIST SP 800-63B: length counts, not kinds of characters. Room for a passphrase, none for a way to keep the CPU busy. */
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
    .meta({ description: 'Unique, whatever its case.', example: 'mo@example.com' })

const settable = {
  email: email(),
  name: line(100).meta({ example: 'Mo' }),
  role: z.enum(ADMIN_ROLES),
  password: password(),
}

/** `POST /admin/admins`. */
export const CreateAdmin = () => z.strictObject(settable).meta({ id: 'CreateAdmin' })

/** `PATCH /admin/admins/{id}`. */
export const EditAdmin = () => z.strictObject(settable).partial().meta({ id: 'EditAdmin' })

/** `POST /admin/me/password`. */
export const ChangePassword = () =>
  z
    .strictObject({ current_password: z.string().min(1).max(1_000), new_password: password() })
    .meta({ id: 'ChangeAdminPassword' })

const expiresIn = () =>
  z.number().int().min(1).max(365).default(90).meta({ description: 'Days that it is valid for.', example: 90 })

/** `POST /admin/admins/{id}/keys`. */
export const CreateAdminKey = () =>
  z
    .strictObject({
      name: line(100).meta({ description: 'Names the key in the audit.', example: 'ci' }),
      expires_in_days: expiresIn(),
    })
    .meta({ id: 'CreateAdminKey' })

/** `POST /admin/admins/{id}/keys/{key}/rotate`. */
export const RotateAdminKey = () => z.strictObject({ expires_in_days: expiresIn() }).meta({ id: 'RotateAdminKey' })

const key = {
  id: idField('aky'),
  name: z.string(),
  created_by: z.string().meta({ description: 'The admin who made it, or `operator` for one made by command.' }),
  created_at: time(),
  rotated_at: time().nullable(),
  expires_at: time(),
}

export const AdminKeySchema = () => z.object(key).meta({ id: 'AdminKey' })

export const NewAdminKeySchema = () =>
  z
    .object({ ...key, key: z.string().meta({ description: 'The key itself, shown once.', example: 'adk_…' }) })
    .meta({ id: 'NewAdminKey' })

export type AdminView = z.infer<ReturnType<typeof AdminSchema>>
export type SignedInView = z.infer<ReturnType<typeof SignedInSchema>>
export type CreateAdminInput = z.infer<ReturnType<typeof CreateAdmin>>
export type EditAdminInput = z.infer<ReturnType<typeof EditAdmin>>
export type AdminKeyView = z.infer<ReturnType<typeof AdminKeySchema>>
export type NewAdminKeyView = z.infer<ReturnType<typeof NewAdminKeySchema>>
