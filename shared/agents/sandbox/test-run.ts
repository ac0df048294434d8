import { ensureInstallation, type Install } from '#shared/access/installations/index.ts'
import { AppEntity } from '#shared/catalogue/apps/index.ts'
import { rateLimited, takeFromBucket } from '#shared/foundation/limits/index.ts'
import { type Work, withoutAnswer } from '#shared/foundation/work/index.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import {
  dispatchAgain,
  isActive,
  loadSteps,
  type NewRun,
  type Run,
  RunEntity,
  viewWithSteps,
} from '#shared/work/runs/index.ts'
import { type OpenRequest, type PrepareInPlace, prepareRun, waitForRun } from '../waiting/index.ts'
import { prepareSandboxInstall } from './installation.ts'
import type { TestRunView } from './schemas.ts'
import { TEST_TRIGGER } from './succeeded-test-run.ts'

/**
 * Installs the newest manifest in the developer's sandbox workspace, performs one real run there and waits for it to
 * end. An agent that fails is a valid response, not an error.
 * @throws `no_manifest`, `rate_limited` (6 a minute per developer), `too_many_active_runs`, `app_suspended`
 */
export const testRun = async (
  work: Work,
  developerId: string,
  appId: string,
  input: Record<string, unknown>,
  inPlace?: PrepareInPlace,
): Promise<TestRunView> => {
  await limitTestRuns(work, `test-run:${developerId}`, 'developer')
  // Taken first, so that a repeat with the same Idempotency-Key finds the run that was already started.
  const runId = work.id('run')
  const install = await prepareSandboxInstall(work, developerId, appId, 'newest')
  const { view, run } = await performTestRun(work, runId, install, input, inPlace)
  if (run.status === 'succeeded') {
    await work.commit([AppEntity.update({ id: appId }, { set: { test_run_at: run.finished_at } })], view)
  }
  return view
}

/** Installs the app, performs one test run and waits for it to end. */
export const performTestRun = async (
  work: Work,
  runId: string,
  install: Install,
  input: Record<string, unknown>,
  inPlace?: PrepareInPlace,
): Promise<{ run: Run; view: TestRunView }> => {
  const { version, owner } = install
  const installation = await ensureInstallation(work, install)
  const start = { installation, input, trigger: TEST_TRIGGER, actor: owner }
  const open = await startOnce(work, runId, start, inPlace)
  const run = await waitForRun(work, { installation_id: installation.id, id: runId }, open)
  if (!isActive(run.status)) open?.drop()
  await open?.over
  const view: TestRunView = {
    installation_id: installation.id,
    workspace_id: installation.workspace_id,
    agent: {
      version: version.version,
      runtime_type: version.runtime_type,
      endpoint: version.endpoint ?? null,
    },
    run: await viewWithSteps(work, run, await loadSteps(work, runId, run)),
  }
  return { run, view }
}

/** @param bucket key of the rate limit @throws `rate_limited` */
export const limitTestRuns = async (work: Work, bucket: string, scope: 'developer' | 'admin'): Promise<void> => {
  const taken = await takeFromBucket(work, bucket, LIMITS.testRunRate)
  if (taken.allowed) return
  throw rateLimited(scope, taken.retryAfter, {
    message: `Limit of ${LIMITS.testRunRate.burst} test runs a minute exceeded for this ${scope === 'admin' ? 'admin' : 'developer'} account.`,
    fix: `Wait ${taken.retryAfter} s (Retry-After), then test again.`,
  })
}

/**
 * Starts the run, unless an earlier request with the same Idempotency-Key started it and died before answering.
 * @returns the run's request, if this function sends it
 */
const startOnce = async (
  work: Work,
  runId: string,
  start: NewRun,
  inPlace: PrepareInPlace | undefined,
): Promise<OpenRequest | undefined> => {
  const starting = withoutAnswer({ ...work, id: (kind) => (kind === 'run' ? runId : work.id(kind)) })
  try {
    const { writes, send } = await prepareRun(inPlace, starting, start)
    await starting.commit(writes)
    return send?.()
  } catch (error) {
    const known: Run | undefined =
      error instanceof ConditionFailed
        ? await work.table.get(RunEntity, { installation_id: start.installation.id, id: runId })
        : undefined
    if (!known) throw error
    await dispatchAgain(work, known)
    return undefined
  }
}
