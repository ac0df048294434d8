import { MemberEntity, UserEntity, WorkspaceEntity } from '../../entities/people.ts'
import type { Run } from '../../entities/runs.ts'
import type { Deps } from '../deps.ts'
import type { Refused, Target } from '../runs/target.ts'
import { identityIn, identityRef } from './identity.ts'
import { orchestratorVersion } from './manifest.ts'
import { orchestratorApp, orchestratorId, orchestratorOf } from './principal.ts'

/**
 * The orchestrator as what a run is handed to. It acts for the person who speaks, for as long as they belong to the
 * workspace.
 */
export const loadOrchestrator = async ({ table }: Pick<Deps, 'table'>, run: Run): Promise<Target | Refused> => {
  const { workspace_id, actor } = run
  if (!actor || run.installation_id !== orchestratorId(workspace_id, actor.id)) return NOT_THERE
  const [workspace, member, user, identity] = await table.getAll([
    { entity: WorkspaceEntity, key: WorkspaceEntity.key({ id: workspace_id }) },
    { entity: MemberEntity, key: MemberEntity.key({ workspace_id, user_id: actor.id }) },
    { entity: UserEntity, key: UserEntity.key({ id: actor.id }) },
    identityRef,
  ] as const)
  if (workspace?.status === 'suspended') return { refused: ['installation_suspended', 'The workspace is suspended.'] }
  if (!workspace || !member || user?.status !== 'active') return NOT_THERE
  const who = identityIn(identity)
  return {
    app: orchestratorApp(who.name),
    version: orchestratorVersion(who),
    installation: orchestratorOf(workspace, actor, who.name),
    workspace,
  }
}

const NOT_THERE: Refused = { refused: ['installation_revoked', 'The person is no longer in the workspace.'] }
