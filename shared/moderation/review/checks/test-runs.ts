import { AppInstallationEntity } from '#shared/access/installations/index.ts'
import { TEST_TRIGGER } from '#shared/agents/sandbox/index.ts'
import type { App } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { listRuns, loadSteps } from '#shared/work/runs/index.ts'
import { moderationSandboxId } from '../sandbox.ts'
import type { TestedRun } from './subject.ts'

/** Number of runs read in each sandbox, and number of test runs among them that are examined. */
const LOOKED_THROUGH = 50
const LOOKED_AT = 10

/** Returns the app's latest test runs, both the developer's and moderation's, newest first. */
export const listTestRuns = async (deps: Pick<Deps, 'table'>, app: App): Promise<TestedRun[]> => {
  const developer = await deps.table.get(DeveloperEntity, { id: app.developer_id })
  const workspaces = [moderationSandboxId(app.id), ...(developer ? [developer.sandbox_workspace_id] : [])]
  const installed = await deps.table.getAll(
    workspaces.map((workspace_id) => AppInstallationEntity.ref({ workspace_id, app_id: app.id })),
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
  return Promise.all(runs.map(async (run) => ({ run, steps: await loadSteps(deps, run.id, run) })))
}
