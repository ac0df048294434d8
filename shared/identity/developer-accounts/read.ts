import type { Deps } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { type Developer, DeveloperEntity } from '../developers/entity.ts'
import { memberById } from '../developers/member-list.ts'
import type { DeveloperRole } from '../developers/roles.ts'
import { WorkspaceEntity } from '../people/entity.ts'
import { presentDeveloper } from './present.ts'
import type { ProfileView } from './schemas.ts'

/** Loads the account of an authenticated key. @throws `not_a_developer` if it was deleted or is blocked */
export const loadDeveloper = async ({ table }: Pick<Deps, 'table'>, id: string): Promise<Developer> => {
  const developer = await table.get(DeveloperEntity, { id })
  if (developer?.status !== 'active') throw fail('not_a_developer')
  return developer
}

/** Loads the developer's own profile (`GET /api/v1/dev/me`). */
export const readProfile = async (
  deps: Pick<Deps, 'table'>,
  id: string,
  { role, memberId }: { role: DeveloperRole; memberId: string | undefined },
): Promise<ProfileView> => {
  const developer = await loadDeveloper(deps, id)
  const member = memberById(developer, memberId)
  const workspace = await deps.table.get(WorkspaceEntity, { id: developer.sandbox_workspace_id })
  return {
    ...presentDeveloper(developer),
    sandbox_workspace: { id: developer.sandbox_workspace_id, name: workspace?.name ?? '', is_sandbox: true },
    role,
    member: member ? { id: member.id, email: member.email, name: member.name ?? null } : null,
  }
}
