import { type App, AppEntity, type Version } from '../../../entities/apps.ts'
import { DeveloperEntity } from '../../../entities/developers.ts'
import { type AppChecks, AppChecksEntity, type Check } from '../../../entities/moderation.ts'
import { iso, MINUTE } from '../../../kernel/clock.ts'
import { fail } from '../../../kernel/errors.ts'
import { LIMITS } from '../../../kernel/limits.ts'
import type { Work } from '../../deps.ts'
import { take } from '../../limits/gcra.ts'
import type { SubmissionChecksView } from '../schemas.ts'
import { addressGuard } from './addresses.ts'
import { chosenVersion } from './chosen-version.ts'
import { endpointReachable, signatureRefusal } from './endpoint.ts'
import { logoImage } from './logo.ts'
import { validManifest } from './manifest.ts'
import { homepage, privacyPage } from './pages.ts'
import { dangerousScopes, scopesUsed } from './scopes.ts'
import type { Finding, Look, Subject } from './subject.ts'
import { lastTestRun } from './test-run.ts'
import { testRunsOf } from './test-runs.ts'
import { beginVisits } from './visits.ts'

/** In the order in which they are shown. */
const LOOKS: [id: string, look: Look][] = [
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

/** For so long what was found is answered again, unless the app changed. */
const KEPT_FOR = 10 * MINUTE

/**
 * `GET /admin/apps/{id}/checks`: looks at a submission, with what was seen as evidence. What outside addresses do takes bounded
 * time and becomes a finding.
 * @throws `not_found`, `no_manifest`, `rate_limited`
 */
export const checkSubmission = async (
  work: Work,
  appId: string,
  { version: wanted, fresh }: { version?: string | undefined; fresh: 'true' | 'false' },
): Promise<SubmissionChecksView> => {
  const app = await work.table.get(AppEntity, { id: appId })
  if (!app) throw fail('not_found', { message: 'There is no such app.' })
  const version = await chosenVersion(work, app, wanted)
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

const lookAt = async (work: Work, app: App, version: Version): Promise<Check[]> => {
  const [developer, testRuns] = await Promise.all([
    work.table.get(DeveloperEntity, { id: app.developer_id }),
    testRunsOf(work, app),
  ])
  const { privacy_url, homepage_url, logo_url } = app
  const subject: Subject = {
    deps: work,
    app,
    version,
    developer,
    testRuns,
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
  const taken = await take(work, `checks:${appId}`, LIMITS.checksRate)
  if (taken.allowed) return
  throw fail('rate_limited', {
    message: `At most ${LIMITS.checksRate.burst} looks a minute at one app.`,
    fix: `Wait ${taken.retryAfter} s (Retry-After), or leave out fresh=true.`,
    details: { limit_scope: 'app' },
    headers: { 'retry-after': String(taken.retryAfter) },
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
