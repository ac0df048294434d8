import type { Developer } from '../../entities/developers.ts'
import { iso } from '../../kernel/clock.ts'
import type { DeveloperView } from './schemas.ts'

/** A developer account as its owner sees it. */
export const presentDeveloper = (developer: Developer): DeveloperView => ({
  id: developer.id,
  email: developer.email,
  name: developer.name,
  company: developer.company ?? null,
  status: developer.status,
  vendor: developer.vendor ?? null,
  verified: developer.verified,
  created_at: iso(developer.created_at),
})
