import { AppEntity } from '../../entities/apps.ts'
import { fail } from '../../kernel/errors.ts'
import type { Moderator } from '../admins/actor.ts'
import { auditStaff } from '../audit/write.ts'
import type { Work } from '../deps.ts'
import type { TestRunView } from '../sandbox/schemas.ts'
import { limitTestRuns, performTestRun } from '../sandbox/test-run.ts'
import { chosenVersion } from './checks/chosen-version.ts'
import { ensureModerationSandbox } from './sandbox.ts'

/** As the agent meets whoever of the staff tests it. */
const STAFF = { id: 'moderation', name: 'Moderation' }

/**
 * `POST /admin/apps/{id}/test-install`: installs a version into the app's sandbox of moderation, with every scope that the app
 * asks for, performs one real run there and waits for its end. A failed agent is an answer, not an error.
 * @throws `not_found`, `no_manifest`, `rate_limited` (6 a minute per admin), `too_many_active_runs`, `app_suspended`
 */
export const testInstall = async (
  work: Work,
  moderator: Moderator,
  appId: string,
  { input, version: wanted }: { input: Record<string, unknown>; version?: string | undefined },
): Promise<TestRunView> => {
  await limitTestRuns(work, `test-install:${moderator.admin.id}`, 'admin')
  // Taken before anything else, so that a repeat under the same Idempotency-Key finds the run that the first one started.
  const runId = work.id('run')
  const app = await work.table.get(AppEntity, { id: appId })
  if (!app) throw fail('not_found', { message: 'There is no such app.' })
  if (app.status === 'suspended') throw fail('app_suspended')
  const version = await chosenVersion(work, app, wanted)
  const workspace = await ensureModerationSandbox(work, app)
  if (workspace.status !== 'active') throw fail('installation_suspended')
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
      auditStaff(
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
