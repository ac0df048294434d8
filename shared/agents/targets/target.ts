import { GrantEntity } from '#shared/access/grants/index.ts'
import {
  ACCESS_WITHDRAWN,
  chatRefusal,
  hasConsent,
  type Installation,
  InstallationEntity,
} from '#shared/access/installations/index.ts'
import { ORCHESTRATOR_APP_ID } from '#shared/access/orchestrator/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { VersionEntity } from '#shared/catalogue/versions/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { scopeRefusal, type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import type { PlatformError } from '#shared/kernel/errors.ts'
import { finishIf, type Run, type RunKey } from '#shared/work/runs/index.ts'
import { loadOrchestrator } from './orchestrator.ts'
import type { Refused, Target, TargetNames } from './types.ts'

/** Records that decide whether a run can be sent, and where to. */
type TargetRecords = Awaited<ReturnType<typeof readTarget>>

const readTarget = (
  { table }: Pick<Deps, 'table'>,
  { app_id, version_id, installation_id, workspace_id, grant_id }: TargetNames,
) =>
  table.getAll([
    AppEntity.ref({ id: app_id }),
    VersionEntity.ref({ app_id, id: version_id }),
    InstallationEntity.ref({ workspace_id, id: installation_id }),
    WorkspaceEntity.ref({ id: workspace_id }),
    ...(grant_id === undefined ? [] : ([GrantEntity.ref({ installation_id, id: grant_id })] as const)),
  ] as const)

/** Begins to read the target of a run in the turn in which the run itself is read, so that one call reads all of it. */
export const readTargetAhead = (deps: Pick<Deps, 'table'>, names: TargetNames): Promise<TargetRecords> | undefined => {
  if (names.app_id === ORCHESTRATOR_APP_ID) return undefined
  const reading = readTarget(deps, names)
  // The read of the run fails, too.
  reading.catch(() => {})
  return reading
}

/**
 * Loads everything needed to send a run, or the reason why it can't be sent. A suspension also stops runs that were
 * queued before it, and so does the loss of the scopes that a task or a conversation's answer needs. The end of the
 * consent under which a run began stops that run at every step.
 * @param ahead what was read together with the run
 */
export const loadTarget = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  run: Run,
  ahead?: Promise<TargetRecords>,
): Promise<Target | Refused> => {
  if (run.app_id === ORCHESTRATOR_APP_ID) return loadOrchestrator(deps, run)
  const { grant_id } = run
  const [app, version, installation, workspace, grant] = await (ahead ?? readTarget(deps, run))
  if (app?.status === 'suspended') return { refused: ['app_suspended', 'The integration is suspended.'] }
  if (installation?.status === 'suspended' || (workspace && workspace.status !== 'active')) {
    return { refused: ['installation_suspended', 'The installation is suspended.'] }
  }
  if (!app || !version || !workspace || installation?.status !== 'active') {
    return { refused: ['installation_revoked', 'The app is no longer installed.'] }
  }
  if (!hasConsent(installation) || (grant_id !== undefined && grant?.status !== 'active')) {
    return { refused: [...ACCESS_WITHDRAWN] }
  }
  const refusal = subjectRefusal(run, installation, workspace)
  if (refusal) {
    const code = refusal.code === 'insufficient_scope' ? refusal.code : 'scope_denied_by_admin'
    return { refused: [code, refusal.message] }
  }
  return { app, version, installation, workspace }
}

/** Returns the missing scope of what the run is about. A task's conversation belongs to the task. */
const subjectRefusal = (
  { task_id, conversation_id }: Run,
  { scopes }: Installation,
  workspace: Workspace,
): PlatformError | undefined => {
  if (task_id !== undefined) return scopeRefusal('tasks:read', { scopes, workspace }, 'Working on a task')
  return conversation_id === undefined ? undefined : chatRefusal({ scopes }, workspace)
}

/** Ends a run that can't be sent: failed, or cancelled if the consent under which it began has ended. */
export const endRefusedRun = (
  work: Work,
  key: RunKey,
  { refused: [error_code, error_message] }: Refused,
): Promise<void> =>
  finishIf(work, key, () => true, {
    status: error_code === ACCESS_WITHDRAWN[0] ? 'cancelled' : 'failed',
    error_code,
    error_message,
  })
