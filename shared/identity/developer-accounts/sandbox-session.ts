import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { auditDeveloper } from '#shared/staff/audit/index.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { memberById } from '../developers/member-list.ts'
import { type Giver, rightsOf } from '../developers/rights.ts'
import type { ConsoleSessionView } from '../people/schemas.ts'
import { standInSession } from '../people/stand-in.ts'
import { loadDeveloper } from './read.ts'
import type { OpenSandboxInput } from './schemas.ts'

/**
 * Signs a developer in to the console of their own sandbox (`POST /api/v1/dev/sandbox/session`): as its owner, or as a
 * customer who is made up, with a member's rights. Each key and each teammate has their own two, who end with them.
 */
export const openSandbox = (work: Work, giver: Giver, { as }: OpenSandboxInput): Promise<ConsoleSessionView> =>
  retryOnConflict(async () => {
    const { developer_id, given_by } = giver
    const developer = await loadDeveloper(work, developer_id)
    const rights = rightsOf(developer, given_by, work.clock.now())
    if (!rights) throw fail('unauthorized', { message: 'The key or session has ended.', fix: 'Sign in again.' })
    const { root, memberId } = rights
    const person =
      as === 'owner'
        ? { name: memberById(developer, memberId)?.name ?? developer.name, role: 'owner' as const }
        : { name: 'Sample customer', role: 'member' as const }
    return standInSession(
      work,
      {
        ...person,
        identity: `sandbox:${developer_id}:${as}:${root}`,
        standIn: { developer_id, given_by: root },
        openedWith: given_by,
        workspaceId: developer.sandbox_workspace_id,
      },
      [
        auditDeveloper(
          work,
          developer_id,
          'sandbox.opened',
          { type: 'workspace', id: developer.sandbox_workspace_id },
          { as },
        ),
      ],
    )
  })
