import { hasConsent, type Installation, InstallationEntity } from '#shared/access/installations/index.ts'
import { type App, AppEntity } from '#shared/catalogue/apps/index.ts'
import { causedBy, envelopeOf, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { findMember, suspended, UserEntity, type Workspace, WorkspaceEntity } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { newMessageRun } from '#shared/work/answering/index.ts'
import {
  type ChainPosition,
  newRun,
  type PreparedRun,
  positionOf,
  type Run,
  RunEntity,
} from '#shared/work/runs/index.ts'
import { checkArguments, loadDeclaredTool } from '../calls/declared-tool.ts'
import { isTimed, type Schedule } from './entity.ts'
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

interface Start {
  runId: string
  actor: { id: string; name: string } | undefined
  /** Event that it gets. */
  event?: OutboxEvent | undefined
  /** The run begins a chain of its own, although an event started it. */
  isTry?: boolean
}

/**
 * Prepares a run of a schedule.
 * @throws why the agent can't be started, also the writes (`too_many_active_runs`, `budget_exceeded`)
 */
export const prepareRun = async (
  work: Work,
  schedule: Pick<Schedule, 'id' | 'start' | 'when'>,
  scene: Scene,
  { runId, actor, event, isTry = false }: Start,
): Promise<PreparedRun> => {
  requireWorking(scene)
  const { workspace, installation } = scene
  const trigger = isTimed(schedule.when) ? 'schedule' : 'event'
  const cause = event && !isTry ? await loadCause(work, event) : undefined
  const chain = isTimed(schedule.when) ? undefined : positionAfter(work, schedule.id, cause)
  const { input, tool, arguments: args, message } = JSON.parse(schedule.start) as StartInput
  const once: Work = { ...work, id: (kind) => (kind === 'run' ? runId : work.id(kind)) }
  if (message !== undefined) {
    if (!actor) throw messageNeedsPerson()
    // Its message is an event, too, which is the run's.
    return causedBy({ installation_id: installation.id, id: runId }, () =>
      newMessageRun(once, { workspace, user: actor }, installation, { text: message, trigger, chain }),
    )
  }
  if (tool !== undefined) checkArguments(await loadDeclaredTool(work, scene, tool), args ?? {})
  const given = input && event ? { ...input, event: envelopeOf(event) } : (input ?? args ?? {})
  return newRun(once, { installation, input: given, trigger, actor, tool, chain })
}

/** Loads the run that caused an event. Undefined if no agent did, or if it isn't known which of its runs. */
export const loadCause = async (
  { table }: Pick<Deps, 'table'>,
  { type, data, installation_id, caused_by }: OutboxEvent,
): Promise<Run | undefined> => {
  const ofRun = type.startsWith('run.') && installation_id !== undefined
  const cause = ofRun ? { installation_id, run_id: (JSON.parse(data) as { run_id: string }).run_id } : caused_by
  return cause && table.get(RunEntity, { installation_id: cause.installation_id, id: cause.run_id })
}

/**
 * Returns the position of a run that an event starts: a hop deeper than the run that caused the event, in whose chain it is
 * (contract/schedules.md#events).
 * @throws `chain_too_deep`
 */
const positionAfter = (
  { clock }: Pick<Deps, 'clock'>,
  scheduleId: string,
  cause: Run | undefined,
): Partial<ChainPosition> => {
  if (!cause) return { chain_schedules: [scheduleId] }
  const position = positionOf(cause, clock.now())
  const chain_depth = position.chain_depth + 1
  if (chain_depth > LIMITS.chainDepth) throw fail('chain_too_deep')
  return {
    ...position,
    chain_depth,
    chain_deadline: (position.chain_started_at ?? cause.created_at) + LIMITS.chainLife,
    chain_schedules: [...(position.chain_schedules ?? []), scheduleId],
  }
}

export const messageNeedsPerson = () =>
  fail('validation_error', {
    message: 'A message is sent by a person, and this schedule has none.',
    fix: 'Send input or tool instead.',
    details: { fields: { 'start.message': ['can only be sent by a person'] } },
  })
