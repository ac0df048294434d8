import * as z from 'zod'
import { idField, time } from '../fields.ts'

/** `POST /admin/auth/login`. */
export const SignIn = () =>
  z
    .strictObject({
      email: z.string().trim().min(1).max(254).meta({ example: 'admin@example.com' }),
      password: z.string().min(1).max(1_000),
    })
    .meta({ id: 'AdminSignIn' })

const admin = {
  id: idField('adm'),
  email: z.string(),
  name: z.string(),
  role: z.enum(['superadmin', 'moderator']),
  created_at: time(),
}

/** A member of the platform's staff. */
const AdminSchema = () => z.object(admin).meta({ id: 'Admin' })

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

export type AdminView = z.infer<ReturnType<typeof AdminSchema>>
export type SignedInView = z.infer<ReturnType<typeof SignedInSchema>>
