import type { App } from '../../../entities/apps.ts'
import { DeveloperEntity } from '../../../entities/developers.ts'
import { AppInstallationEntity } from '../../../entities/installations.ts'
import type { Deps } from '../../deps.ts'
import { listRuns, stepsOf } from '../../runs/read.ts'
import { TEST_TRIGGER } from '../../sandbox/evidence.ts'
import { moderationSandbox } from '../sandbox.ts'
import type { TestedRun } from './subject.ts'

/** Runs looked through in each sandbox, and test runs among them that are looked at. */
const LOOKED_THROUGH = 50
const LOOKED_AT = 10

/** The app's latest test runs, the developer's and moderation's together, newest first. */
export const testRunsOf = async (deps: Pick<Deps, 'table'>, app: App): Promise<TestedRun[]> => {
  const developer = await deps.table.get(DeveloperEntity, { id: app.developer_id })
  const workspaces = [moderationSandbox(app.id), ...(developer ? [developer.sandbox_workspace_id] : [])]
  const installed = await deps.table.getAll(
    workspaces.map((workspace_id) => ({
      entity: AppInstallationEntity,
      key: AppInstallationEntity.key({ workspace_id, app_id: app.id }),
    })),
  )
  const pages = await Promise.all(
    installed.flatMap((one) =>
      one ? [listRuns(deps, one.installation_id, undefined, { limit: LOOKED_THROUGH })] : [],
    ),
  )
  const runs = pages
    .flatMap(({ items }) => items)
    .filter(({ trigger }) => trigger === TEST_TRIGGER)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, LOOKED_AT)
  return Promise.all(runs.map(async (run) => ({ run, steps: await stepsOf(deps, run.id) })))
}
