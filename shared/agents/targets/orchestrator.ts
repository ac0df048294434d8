import {
  identityFrom,
  identityRef,
  orchestratorApp,
  orchestratorId,
  orchestratorOf,
} from '#shared/access/orchestrator/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { isStillGiven, MemberEntity, UserEntity, WorkspaceEntity } from '#shared/identity/people/index.ts'
import type { Run } from '#shared/work/runs/index.ts'
import { orchestratorVersion } from './orchestrator-manifest.ts'
import type { Refused, Target } from './types.ts'

/**
 * Loads the orchestrator as the target of a run. It acts on behalf of the person who wrote, as long as they belong to
 * the workspace.
 */
export const loadOrchestrator = async (deps: Pick<Deps, 'table' | 'clock'>, run: Run): Promise<Target | Refused> => {
  const { workspace_id, actor } = run
  if (!actor || run.installation_id !== orchestratorId(workspace_id, actor.id)) return NOT_THERE
  const [workspace, member, user, identity] = await deps.table.getAll([
    WorkspaceEntity.ref({ id: workspace_id }),
    MemberEntity.ref({ workspace_id, user_id: actor.id }),
    UserEntity.ref({ id: actor.id }),
    identityRef,
  ] as const)
  if (workspace?.status === 'suspended') return { refused: ['installation_suspended', 'The workspace is suspended.'] }
  if (!workspace || !member || user?.status !== 'active' || !(await isStillGiven(deps, member))) return NOT_THERE
  const orchestrator = identityFrom(identity)
  return {
    app: orchestratorApp(orchestrator.name),
    version: orchestratorVersion(orchestrator),
    installation: orchestratorOf(workspace, actor, orchestrator.name),
    workspace,
  }
}

const NOT_THERE: Refused = { refused: ['installation_revoked', 'The person is no longer in the workspace.'] }
