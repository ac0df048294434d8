import { iso } from '#shared/kernel/clock.ts'
import type { Admin, NamedAdminKey } from './entity.ts'
import type { AdminKeyView, AdminView } from './schemas.ts'

/** Returns an admin account without its password. */
export const presentAdmin = ({ id, email, name, role, created_at }: Admin): AdminView => ({
  id,
  email,
  name,
  role,
  created_at: iso(created_at),
})

/** Returns a key without its secret. */
export const presentAdminKey = ({
  id,
  name,
  created_by,
  created_at,
  rotated_at,
  expires_at,
}: NamedAdminKey): AdminKeyView => ({
  id,
  name,
  created_by,
  created_at: iso(created_at),
  rotated_at: rotated_at === undefined ? null : iso(rotated_at),
  expires_at: iso(expires_at),
})
