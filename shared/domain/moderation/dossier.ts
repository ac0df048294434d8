import { AbuseReportEntity, openReportsOf } from '../../entities/abuse.ts'
import { AppEntity, ListedAppEntity } from '../../entities/apps.ts'
import { ClaimEntity, CounterEntity, DeveloperEntity } from '../../entities/developers.ts'
import { AppThreadEntity } from '../../entities/moderation.ts'
import { AuditEntity, auditOf } from '../../entities/platform.ts'
import { ReviewClaimEntity, ReviewItemEntity } from '../../entities/review-queue.ts'
import { ReviewTotalsEntity } from '../../entities/reviews.ts'
import { iso } from '../../kernel/clock.ts'
import { fail } from '../../kernel/errors.ts'
import { presentModeratedReport } from '../abuse/schemas.ts'
import { messageCounter } from '../correspondence/messages.ts'
import type { Deps } from '../deps.ts'
import { presentDeveloper } from '../developers/present.ts'
import { hiddenIn, presentTotals } from '../reviews/schemas.ts'
import { installationsOf } from '../statistics/read.ts'
import { openApplication } from '../verification/apply.ts'
import { listVersions } from '../versions/read.ts'
import { presentClaim } from './claim.ts'
import { presentModerated } from './decide.ts'
import { verificationOf } from './queue.ts'
import type { AppDossierView } from './schemas.ts'
import { viewVersion } from './versions.ts'

const VERSIONS = 20
const WAITING = 100
const RECENT = 50

/** `GET /admin/apps/{id}`. @throws `not_found` */
export const readDossier = async (
  deps: Pick<Deps, 'table' | 'objects' | 'clock'>,
  app_id: string,
): Promise<AppDossierView> => {
  const { table } = deps
  const app = await table.get(AppEntity, { id: app_id })
  if (!app) throw fail('not_found', { message: 'There is no such app.' })
  const { developer_id } = app
  const [records, versions, waiting, installations, history, reports] = await Promise.all([
    table.getAll([
      { entity: DeveloperEntity, key: DeveloperEntity.key({ id: developer_id }) },
      { entity: ClaimEntity, key: ClaimEntity.key(openApplication(developer_id)) },
      { entity: ListedAppEntity, key: ListedAppEntity.key({ app_id }) },
      { entity: ReviewClaimEntity, key: ReviewClaimEntity.key({ app_id }) },
      { entity: ReviewTotalsEntity, key: ReviewTotalsEntity.key({ app_id }) },
      { entity: CounterEntity, key: CounterEntity.key(messageCounter(app_id)) },
      { entity: AppThreadEntity, key: AppThreadEntity.key({ app_id }) },
    ] as const),
    listVersions(deps, app, { limit: VERSIONS }),
    table.query(ReviewItemEntity, { app_id }, { limit: WAITING, ascending: true }),
    installationsOf(deps, app_id),
    table.listed(AuditEntity, auditOf(app_id), { limit: RECENT }),
    table.listed(AbuseReportEntity, openReportsOf(app_id), { limit: RECENT }),
  ])
  const [developer, application, listed, claim, totals, counter, thread] = records
  const { average, count, distribution } = presentTotals(totals, undefined)
  return {
    app: presentModerated(app),
    developer: developer ? presentDeveloper(developer) : null,
    verification: verificationOf(developer, application),
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
    reviews: { average, count, hidden: hiddenIn(totals), distribution },
    history: history.items.map(({ id, action, actor, details, created_at }) => ({
      id,
      action,
      actor,
      details,
      created_at: iso(created_at),
    })),
    messages: counter?.n ?? 0,
    waits_for: thread?.waits_for ?? null,
    // The index may lag behind a decision.
    abuse_reports: reports.items.filter(({ status }) => status === 'open').map(presentModeratedReport),
  }
}
