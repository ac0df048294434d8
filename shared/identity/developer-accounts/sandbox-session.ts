import type { Work } from '#shared/foundation/work/index.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import type { ConsoleSessionView } from '../people/schemas.ts'
import { standInSession } from '../people/stand-in.ts'
import { memberById } from './member-list.ts'
import { loadDeveloper } from './read.ts'
import type { OpenSandboxInput } from './schemas.ts'
import { standInIdentity } from './stand-ins.ts'

/**
 * Signs a developer in to the console of their own sandbox (`POST /api/v1/dev/sandbox/session`): as its owner, or as a
 * customer who is made up, with a member's rights.
 * @param memberId the teammate who asks, if they signed in as one
 */
export const openSandbox = (
  work: Work,
  developerId: string,
  memberId: string | undefined,
  { as }: OpenSandboxInput,
): Promise<ConsoleSessionView> =>
  retryOnConflict(async () => {
    const developer = await loadDeveloper(work, developerId)
    const person =
      as === 'owner'
        ? { name: memberById(developer, memberId)?.name ?? developer.name, role: 'owner' as const }
        : { name: 'Sample customer', role: 'member' as const }
    return standInSession(
      work,
      {
        ...person,
        identity: standInIdentity(developerId, as, memberId),
        workspaceId: developer.sandbox_workspace_id,
      },
      [
        auditDeveloper(
          work,
          developerId,
          'sandbox.opened',
          { type: 'workspace', id: developer.sandbox_workspace_id },
          { as },
        ),
      ],
    )
  })
