import { type Developer, DeveloperEntity } from '../../entities/developers.ts'
import { WorkspaceEntity } from '../../entities/people.ts'
import { fail } from '../../kernel/errors.ts'
import type { Deps } from '../deps.ts'
import { presentDeveloper } from './present.ts'
import type { ProfileView } from './schemas.ts'

/** The account of an authenticated key. @throws `not_a_developer` when it is gone or blocked */
export const loadDeveloper = async ({ table }: Pick<Deps, 'table'>, id: string): Promise<Developer> => {
  const developer = await table.get(DeveloperEntity, { id })
  if (developer?.status !== 'active') throw fail('not_a_developer')
  return developer
}

/** `GET /api/v1/dev/me`. */
export const readProfile = async (deps: Pick<Deps, 'table'>, id: string): Promise<ProfileView> => {
  const developer = await loadDeveloper(deps, id)
  const workspace = await deps.table.get(WorkspaceEntity, { id: developer.sandbox_workspace_id })
  return {
    ...presentDeveloper(developer),
    sandbox_workspace: { id: developer.sandbox_workspace_id, name: workspace?.name ?? '', is_sandbox: true },
  }
}
