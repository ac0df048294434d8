import { limitTestRuns, performTestRun, type TestRunView } from '#shared/agents/sandbox/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { suspended } from '#shared/identity/people/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { Moderator } from '#shared/staff/admins/index.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'
import { loadChosenVersion } from './checks/chosen-version.ts'
import { ensureModerationSandbox } from './sandbox.ts'

/** The user that the agent sees when an admin tests it. */
const STAFF = { id: 'moderation', name: 'Moderation' }

/**
 * Handles `POST /admin/apps/{id}/test-install`. Installs a version into the app's moderation sandbox with every
 * requested scope, performs one real run and waits for it to end. A failing agent is a result, not an error.
 * @throws `not_found`, `no_manifest`, `rate_limited` (6 a minute per admin), `too_many_active_runs`, `app_suspended`
 */
export const testInstall = async (
  work: Work,
  moderator: Moderator,
  appId: string,
  { input, version: wanted }: { input: Record<string, unknown>; version?: string | undefined },
): Promise<TestRunView> => {
  await limitTestRuns(work, `test-install:${moderator.admin.id}`, 'admin')
  // The id comes first, so that a retry under the same Idempotency-Key finds the run that the first request started.
  const runId = work.id('run')
  const app = await work.table.get(AppEntity, { id: appId })
  if (!app) throw fail('not_found', { message: 'App not found.' })
  if (app.status === 'suspended') throw fail('app_suspended')
  const version = await loadChosenVersion(work, app, wanted)
  const workspace = await ensureModerationSandbox(work, app)
  if (workspace.status !== 'active') throw suspended(workspace)
  const install = {
    app,
    version,
    workspace,
    scopes: app.requested_scopes,
    owner: STAFF,
    sandbox: 'move',
    actor: { type: 'admin', id: moderator.admin.id },
  } as const
  const { view, run } = await performTestRun(work, runId, install, input)
  await work.commit(
    [
      auditAdmin(
        work,
        moderator,
        'app.test_installed',
        { type: 'app', id: appId },
        { run_id: run.id, version_id: version.id, version: version.version, run_status: run.status },
      ),
    ],
    view,
  )
  return view
}
