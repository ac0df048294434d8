import { hasConsent, type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { findMember, suspended, UserEntity, type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { newMessageRun } from '#shared/work/answering/index.ts'
import { newRun, type PreparedRun } from '#shared/work/runs/index.ts'
import { checkArguments, loadDeclaredTool } from '../calls/declared-tool.ts'
import type { Schedule } from './entity.ts'
import type { StartInput } from './schemas.ts'

/** Agent and workspace of a schedule. */
export interface Scene {
  workspace: Workspace
  installation: Installation
  app: App
}

/** Loads the agent and the workspace. Undefined once the agent is uninstalled or the workspace is being deleted. */
export const loadScene = async (
  { table }: Pick<Deps, 'table'>,
  { workspace_id, installation_id: id }: Pick<Schedule, 'workspace_id' | 'installation_id'>,
): Promise<Scene | undefined> => {
  const [workspace, installation] = await table.getAll([
    WorkspaceEntity.ref({ id: workspace_id }),
    InstallationEntity.ref({ workspace_id, id }),
  ] as const)
  if (!workspace || workspace.status === 'deleting' || !installation || installation.status === 'revoked')
    return undefined
  const app = await table.get(AppEntity, { id: installation.app_id })
  return app && { workspace, installation, app }
}

/** @throws `app_suspended`, `installation_suspended`, `access_withdrawn`; `forbidden` in a suspended workspace */
export const requireWorking = ({ workspace, installation, app }: Scene): void => {
  if (workspace.status === 'suspended') {
    throw fail('forbidden', { message: 'The workspace is suspended.', fix: 'Contact platform support.' })
  }
  if (app.status === 'suspended') throw fail('app_suspended')
  if (installation.status === 'suspended') throw suspended()
  if (!hasConsent(installation)) throw fail('access_withdrawn')
}

/** Reports whether the person who created a schedule is still a member. An installation has no such condition. */
export const hasCreator = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { workspace_id, created_by }: Pick<Schedule, 'workspace_id' | 'created_by'>,
): Promise<boolean> => {
  if (created_by.type === 'app') return true
  const [member, user] = await Promise.all([
    findMember(deps, workspace_id, created_by.id),
    deps.table.get(UserEntity, { id: created_by.id }),
  ])
  return member !== undefined && user?.status === 'active'
}

/** Trigger of a run that a schedule started. */
const TRIGGER = 'schedule'

interface Start {
  runId: string
  actor: { id: string; name: string } | undefined
}

/**
 * Prepares a run of a schedule.
 * @throws why the agent can't be started, also the writes (`too_many_active_runs`, `budget_exceeded`)
 */
export const prepareRun = async (
  work: Work,
  schedule: Pick<Schedule, 'start'>,
  scene: Scene,
  { runId, actor }: Start,
): Promise<PreparedRun> => {
  requireWorking(scene)
  const { workspace, installation } = scene
  const { input, tool, arguments: args, message } = JSON.parse(schedule.start) as StartInput
  const once: Work = { ...work, id: (kind) => (kind === 'run' ? runId : work.id(kind)) }
  if (message !== undefined) {
    if (!actor) throw messageNeedsPerson()
    return newMessageRun(once, { workspace, user: actor }, installation, { text: message, trigger: TRIGGER })
  }
  if (tool !== undefined) checkArguments(await loadDeclaredTool(work, scene, tool), args ?? {})
  return newRun(once, { installation, input: input ?? args ?? {}, trigger: TRIGGER, actor, tool })
}

export const messageNeedsPerson = () =>
  fail('validation_error', {
    message: 'A message is sent by a person, and this schedule has none.',
    fix: 'Send input or tool instead.',
    details: { fields: { 'start.message': ['can only be sent by a person'] } },
  })
