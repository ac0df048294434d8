import type { App } from '../../entities/apps.ts'
import { AppInstallationEntity } from '../../entities/installations.ts'
import type { Deps } from '../deps.ts'
import { loadDeveloper } from '../developers/read.ts'
import { listRuns } from '../runs/read.ts'

/** The label of runs that `test-run` starts. */
export const TEST_TRIGGER = 'test'

/** Runs looked through for a test run that succeeded after its call had stopped waiting. */
const LOOKED_THROUGH = 50

/**
 * When a test run of the app succeeded, epoch ms; undefined when none did. Mostly the app itself knows; a run that ended
 * after the call had stopped waiting is found among the sandbox installation's runs.
 */
export const succeededTestRun = async (
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
