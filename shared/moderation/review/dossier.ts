import { AppEntity, ListedAppEntity } from '#shared/catalogue/apps/index.ts'
import { ReviewClaimEntity, ReviewItemEntity } from '#shared/catalogue/review-queue/index.ts'
import { listVersions } from '#shared/catalogue/versions/index.ts'
import { ClaimEntity, CounterEntity } from '#shared/foundation/claims/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { presentDeveloper } from '#shared/identity/developer-accounts/index.ts'
import { DeveloperEntity } from '#shared/identity/developers/index.ts'
import { countInstallations } from '#shared/insight/statistics/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { hiddenCount, presentTotals, ReviewTotalsEntity } from '#shared/marketplace/reviews/index.ts'
import { AuditEntity, auditOf } from '#shared/staff/audit/index.ts'
import { AbuseReportEntity, openReportsOf } from '../abuse/entity.ts'
import { presentModeratedReport } from '../abuse/schemas.ts'
import { AppThreadEntity } from '../correspondence/entity.ts'
import { messageCounter } from '../correspondence/messages.ts'
import { openApplicationClaim } from '../verification/apply.ts'
import { presentClaim } from './claim.ts'
import { presentModeratedApp } from './decide.ts'
import { verificationStatusOf } from './queue.ts'
import type { AppDossierView } from './schemas.ts'
import { viewVersion } from './versions.ts'

const VERSIONS = 20
const WAITING = 100
const RECENT = 50

/**
 * Handles `GET /admin/apps/{id}`.
 * @throws `not_found`
 */
export const loadDossier = async (
  deps: Pick<Deps, 'table' | 'objects' | 'clock'>,
  app_id: string,
): Promise<AppDossierView> => {
  const { table } = deps
  const app = await table.get(AppEntity, { id: app_id })
  if (!app) throw fail('not_found', { message: 'App not found.' })
  const { developer_id } = app
  const [records, versions, waiting, installations, history, reports] = await Promise.all([
    table.getAll([
      DeveloperEntity.ref({ id: developer_id }),
      ClaimEntity.ref(openApplicationClaim(developer_id)),
      ListedAppEntity.ref({ app_id }),
      ReviewClaimEntity.ref({ app_id }),
      ReviewTotalsEntity.ref({ app_id }),
      CounterEntity.ref(messageCounter(app_id)),
      AppThreadEntity.ref({ app_id }),
    ] as const),
    listVersions(deps, app, { limit: VERSIONS }),
    table.query(ReviewItemEntity, { app_id }, { limit: WAITING, ascending: true }),
    countInstallations(deps, app_id),
    table.listed(AuditEntity, auditOf(app_id), { limit: RECENT }),
    table.listed(AbuseReportEntity, openReportsOf(app_id), { limit: RECENT }),
  ])
  const [developer, application, listed, claim, totals, counter, thread] = records
  const { average, count, distribution } = presentTotals(totals, undefined)
  return {
    app: presentModeratedApp(app),
    developer: developer ? presentDeveloper(developer) : null,
    verification: verificationStatusOf(developer, application),
    listing: listed
      ? {
          listed_at: iso(listed.listed_at),
          featured_at: listed.featured_at === undefined ? null : iso(listed.featured_at),
        }
      : null,
    claim: claim && claim.expires_at > deps.clock.now() ? presentClaim(app_id, claim) : null,
    waiting: waiting.items.map(({ kind, subject, waiting_since }) => ({
      kind,
      id: subject,
      waiting_since: iso(waiting_since),
    })),
    versions: await Promise.all(versions.items.map((version) => viewVersion(deps, app, version))),
    more_versions: versions.next !== undefined,
    installations,
    reviews: { average, count, hidden: hiddenCount(totals), distribution },
    history: history.items.map(({ id, action, actor, details, created_at }) => ({
      id,
      action,
      actor,
      details,
      created_at: iso(created_at),
    })),
    messages: counter?.n ?? 0,
    waits_for: thread?.waits_for ?? null,
    // The index may lag behind a resolution.
    abuse_reports: reports.items.filter(({ status }) => status === 'open').map(presentModeratedReport),
  }
}
