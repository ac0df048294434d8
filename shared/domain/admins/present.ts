import type { Admin } from '../../entities/platform.ts'
import { iso } from '../../kernel/clock.ts'
import type { AdminView } from './schemas.ts'

/** An admin account without its password. */
export const presentAdmin = ({ id, email, name, role, created_at }: Admin): AdminView => ({
  id,
  email,
  name,
  role,
  created_at: iso(created_at),
})
