import { AppEntity } from '../../entities/apps.ts'
import type { Installation } from '../../entities/installations.ts'
import { type Run, RunEntity } from '../../entities/runs.ts'
import { fail } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ConditionFailed } from '../../table/entity.ts'
import { aside, type Work } from '../deps.ts'
import { ensureInstallation, type Install } from '../installations/install.ts'
import { take } from '../limits/gcra.ts'
import { stepsOf, viewWithSteps } from '../runs/read.ts'
import { startRun } from '../runs/start.ts'
import { waitForRun } from '../runs/wait.ts'
import { TEST_TRIGGER } from './evidence.ts'
import { sandboxInstall } from './installation.ts'
import type { TestRunView } from './schemas.ts'

/**
 * Installs the newest manifest into the developer's sandbox workspace, performs one real run there and waits for its end.
 * A failed agent is an answer, not an error.
 * @throws `no_manifest`, `rate_limited` (6 a minute per developer), `too_many_active_runs`, `app_suspended`
 */
export const testRun = async (
  work: Work,
  developerId: string,
  appId: string,
  input: Record<string, unknown>,
): Promise<TestRunView> => {
  await limitTestRuns(work, `test-run:${developerId}`, 'developer')
  // Taken before anything else, so that a repeat under the same Idempotency-Key finds the run that the first one started.
  const runId = work.id('run')
  const install = await sandboxInstall(work, developerId, appId, 'newest')
  const { view, run } = await performTestRun(work, runId, install, input)
  if (run.status === 'succeeded') {
    await work.commit([AppEntity.update({ id: appId }, { set: { test_run_at: run.finished_at } })], view)
  }
  return view
}

/** Installs, runs once as a test, and waits for the run's end. */
export const performTestRun = async (
  work: Work,
  runId: string,
  install: Install,
  input: Record<string, unknown>,
): Promise<{ run: Run; view: TestRunView }> => {
  const { version, owner } = install
  const installation = await ensureInstallation(work, install)
  await startOnce(work, runId, installation, input, owner)
  const run = await waitForRun(work, { installation_id: installation.id, id: runId })
  const view: TestRunView = {
    installation_id: installation.id,
    workspace_id: installation.workspace_id,
    agent: {
      version: version.version,
      runtime_type: version.runtime_type,
      endpoint: version.endpoint ?? null,
    },
    run: await viewWithSteps(work, run, await stepsOf(work, runId)),
  }
  return { run, view }
}

/**
 * @param bucket whose test runs are counted
 * @throws `rate_limited`
 */
export const limitTestRuns = async (work: Work, bucket: string, scope: 'developer' | 'admin'): Promise<void> => {
  const taken = await take(work, bucket, LIMITS.testRunRate)
  if (taken.allowed) return
  throw fail('rate_limited', {
    message: `At most ${LIMITS.testRunRate.burst} test runs a minute for this ${scope === 'admin' ? 'admin' : 'developer'} account.`,
    fix: `Wait ${taken.retryAfter} s (Retry-After), then test again.`,
    details: { limit_scope: scope },
    headers: { 'retry-after': String(taken.retryAfter) },
  })
}

/** Starts the run, unless a request with the same Idempotency-Key that died before it answered has started it. */
const startOnce = async (
  work: Work,
  runId: string,
  installation: Installation,
  input: Record<string, unknown>,
  actor: { id: string; name: string },
): Promise<void> => {
  const starting = aside({ ...work, id: (kind) => (kind === 'run' ? runId : work.id(kind)) })
  try {
    await startRun(starting, { installation, input, trigger: TEST_TRIGGER, actor })
  } catch (error) {
    const known: Run | undefined =
      error instanceof ConditionFailed
        ? await work.table.get(RunEntity, { installation_id: installation.id, id: runId })
        : undefined
    if (!known) throw error
  }
}
