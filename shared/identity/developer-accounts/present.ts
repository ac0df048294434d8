import { iso } from '#shared/kernel/clock.ts'
import type { Developer } from '../developers/entity.ts'
import type { DeveloperView } from './schemas.ts'

/** Returns a developer account as its owner sees it. */
export const presentDeveloper = (developer: Developer): DeveloperView => ({
  id: developer.id,
  email: developer.email,
  email_verified: developer.email_verified_at !== undefined,
  name: developer.name,
  company: developer.company ?? null,
  status: developer.status,
  vendor: developer.vendor ?? null,
  verified: developer.verified,
  created_at: iso(developer.created_at),
})
