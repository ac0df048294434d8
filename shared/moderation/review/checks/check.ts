import { type App, AppEntity, findLookalikes, withRevision } from '#shared/catalogue/apps/index.ts'
import type { Version } from '#shared/catalogue/versions/index.ts'
import { rateLimited, takeFromBucket } from '#shared/foundation/limits/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { iso, MINUTE } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { type AppChecks, AppChecksEntity, type Check } from '../entity.ts'
import type { SubmissionChecksView } from '../schemas.ts'
import { addressGuard } from './addresses.ts'
import { loadChosenVersion } from './chosen-version.ts'
import { endpointReachable, signatureRefusal } from './endpoint.ts'
import { logoImage } from './logo.ts'
import { validManifest } from './manifest.ts'
import { homepage, privacyPage } from './pages.ts'
import { dangerousScopes, scopesUsed } from './scopes.ts'
import { similarName } from './similar-name.ts'
import type { CheckSubject, Finding, SubmissionCheck } from './subject.ts'
import { lastTestRun } from './test-run.ts'
import { listTestRuns } from './test-runs.ts'
import { beginVisits } from './visits.ts'

/** Checks in display order. */
const LOOKS: [id: string, look: SubmissionCheck][] = [
  ['similar_name', similarName],
  ['manifest', validManifest],
  ['address_guard', addressGuard],
  ['endpoint_reachable', endpointReachable],
  ['signature_refusal', signatureRefusal],
  ['privacy_url', privacyPage],
  ['homepage_url', homepage],
  ['logo', logoImage],
  ['dangerous_scopes', dangerousScopes],
  ['scopes_used', scopesUsed],
  ['test_run', lastTestRun],
]

/** Time for which findings are cached, unless the app changes. */
const KEPT_FOR = 10 * MINUTE

/**
 * Handles `GET /admin/apps/{id}/checks`: runs the automatic checks on a submission and returns findings with evidence.
 * Calls to outside addresses have a deadline, and their failures become findings.
 * @throws `not_found`, `no_manifest`, `rate_limited`
 */
export const checkSubmission = async (
  work: Work,
  appId: string,
  { version: wanted, fresh }: { version?: string | undefined; fresh: 'true' | 'false' },
): Promise<SubmissionChecksView> => {
  const app = await work.table.get(AppEntity, { id: appId })
  if (!app) throw fail('not_found', { message: 'App not found.' })
  const version = await loadChosenVersion(work, app, wanted)
  const kept = await work.table.get(AppChecksEntity, { app_id: app.id, version_id: version.id })
  const now = work.clock.now()
  if (fresh === 'false' && kept && kept.app_updated_at === app.updated_at && now - kept.checked_at < KEPT_FOR) {
    return present(kept, true)
  }
  await limitChecks(work, appId)
  const found: AppChecks = {
    app_id: app.id,
    version_id: version.id,
    version: version.version,
    app_updated_at: app.updated_at,
    checks: await lookAt(work, app, version),
    checked_at: now,
  }
  await work.commit([AppChecksEntity.replace(found)])
  return present(found, false)
}

/** Runs the checks on the app as it would be with its pending revision. */
const lookAt = async (work: Work, live: App, version: Version): Promise<Check[]> => {
  const app = withRevision(live)
  const [developer, testRuns, lookalikes] = await Promise.all([
    work.table.get(DeveloperEntity, { id: app.developer_id }),
    listTestRuns(work, app),
    findLookalikes(work, app),
  ])
  const { privacy_url, homepage_url, logo_url } = app
  const subject: CheckSubject = {
    deps: work,
    app,
    version,
    developer,
    testRuns,
    lookalikes,
    visits: beginVisits(work, {
      endpoint: version.endpoint,
      ...(privacy_url !== undefined && { privacy: privacy_url }),
      ...(homepage_url !== undefined && { homepage: homepage_url }),
      ...(logo_url !== undefined && { logo: logo_url }),
    }),
  }
  return Promise.all(LOOKS.map(([id, look]) => timed(work, id, () => look(subject))))
}

const timed = async (work: Work, id: string, look: () => Promise<Finding> | Finding): Promise<Check> => {
  const checked_at = work.clock.now()
  const begun = performance.now()
  const finding = await look()
  return { id, ...finding, checked_at, duration_ms: Math.round(performance.now() - begun) }
}

const limitChecks = async (work: Work, appId: string): Promise<void> => {
  const taken = await takeFromBucket(work, `checks:${appId}`, LIMITS.checksRate)
  if (taken.allowed) return
  throw rateLimited('app', taken.retryAfter, {
    message: `The checks of one app can run at most ${LIMITS.checksRate.burst} times a minute.`,
    fix: `Wait ${taken.retryAfter} s (Retry-After), or omit fresh=true.`,
  })
}

const present = (
  { app_id, version_id, version, checks, checked_at }: AppChecks,
  stored: boolean,
): SubmissionChecksView => ({
  app_id,
  version: { id: version_id, version },
  checked_at: iso(checked_at),
  stored,
  checks: checks.map(({ fix, ...check }) => ({ ...check, fix: fix ?? null, checked_at: iso(check.checked_at) })),
})
