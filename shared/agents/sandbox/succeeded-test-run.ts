import { AppInstallationEntity } from '#shared/access/installations/index.ts'
import type { App } from '#shared/catalogue/apps/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { loadDeveloper } from '#shared/identity/developer-accounts/index.ts'
import { listRuns } from '#shared/work/runs/index.ts'

/** Trigger of runs that `test-run` starts. */
export const TEST_TRIGGER = 'test'

/** Number of runs searched for a test run that succeeded after its request had timed out. */
const LOOKED_THROUGH = 50

/**
 * Returns when a test run of the app succeeded, in epoch ms, or undefined if none has. Usually the app records this
 * itself. A run that ended after its request stopped waiting is found among the sandbox installation's runs.
 */
export const findSucceededTestRun = async (
  deps: Pick<Deps, 'table'>,
  developerId: string,
  app: App,
): Promise<number | undefined> => {
  if (app.test_run_at !== undefined) return app.test_run_at
  const { sandbox_workspace_id } = await loadDeveloper(deps, developerId)
  const installed = await deps.table.get(AppInstallationEntity, { workspace_id: sandbox_workspace_id, app_id: app.id })
  if (!installed) return undefined
  const { items } = await listRuns(deps, installed.installation_id, 'succeeded', { limit: LOOKED_THROUGH })
  return items.find(({ trigger }) => trigger === TEST_TRIGGER)?.finished_at
}
