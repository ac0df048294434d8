import { type App, AppEntity, type Version, VersionEntity } from '../../entities/apps.ts'
import { ClaimEntity, type Developer, DeveloperEntity } from '../../entities/developers.ts'
import { type AppChecks, AppChecksEntity } from '../../entities/moderation.ts'
import {
  REVIEW_KINDS,
  type ReviewClaim,
  ReviewClaimEntity,
  type ReviewItem,
  ReviewItemEntity,
  type ReviewKind,
  reviewQueue,
} from '../../entities/review-queue.ts'
import { iso } from '../../kernel/clock.ts'
import { SCOPES } from '../../kernel/scopes.ts'
import { skipTo } from '../../table/lists.ts'
import type { Ref } from '../../table/table.ts'
import type { Deps } from '../deps.ts'
import { totalOf } from '../totals.ts'
import { openApplication } from '../verification/apply.ts'
import { checklistOf } from './checklist.ts'
import type { ReviewItemView } from './schemas.ts'

interface Page {
  kind?: ReviewKind | undefined
  limit: number
  offset: number
}

/** `GET /admin/review`: what waits, oldest first; whatever their number, what is on the page is read in three batches. */
export const listQueue = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { kind, limit, offset }: Page,
): Promise<{ items: ReviewItemView[]; total: number }> => {
  const lists = (kind === undefined ? REVIEW_KINDS : [kind]).map(reviewQueue)
  const [total, waiting] = await Promise.all([
    totalOf(deps, lists),
    skipTo(
      deps.table,
      ReviewItemEntity,
      lists.map((directory) => ({ directory })),
      { limit, offset, ascending: true },
    ),
  ])
  return { items: await show(deps, waiting), total }
}

const show = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  waiting: readonly ReviewItem[],
): Promise<ReviewItemView[]> => {
  const first = await table.getAll(
    waiting.flatMap(({ app_id }): Ref[] => [
      { entity: AppEntity, key: AppEntity.key({ id: app_id }) },
      { entity: ReviewClaimEntity, key: ReviewClaimEntity.key({ app_id }) },
    ]),
  )
  const found = waiting.flatMap((item, i) => {
    const app = first[2 * i] as App | undefined
    return app ? [{ item, app, claim: first[2 * i + 1] as ReviewClaim | undefined }] : []
  })
  const second = await table.getAll(
    found.flatMap(({ item, app }): Ref[] => {
      const at = { app_id: app.id, id: versionOf(item, app) }
      return [
        { entity: DeveloperEntity, key: DeveloperEntity.key({ id: app.developer_id }) },
        { entity: ClaimEntity, key: ClaimEntity.key(openApplication(app.developer_id)) },
        { entity: VersionEntity, key: VersionEntity.key(at) },
        { entity: AppChecksEntity, key: AppChecksEntity.key({ app_id: app.id, version_id: at.id }) },
      ]
    }),
  )
  return found.map(({ item, app, claim }, i) => {
    const [developer, application, version, checks] = second.slice(4 * i, 4 * i + 4) as [
      Developer | undefined,
      object | undefined,
      Version | undefined,
      AppChecks | undefined,
    ]
    const live = claim && claim.expires_at > clock.now() ? claim : undefined
    return {
      kind: item.kind,
      app: {
        id: app.id,
        slug: app.slug,
        name: app.name,
        type: app.type,
        status: app.status,
        logo_url: app.logo_url ?? null,
      },
      version: version ? { id: version.id, version: version.version } : null,
      developer: {
        id: app.developer_id,
        name: developer?.company ?? developer?.name ?? '',
        verified: developer?.verified ?? false,
        verification: verificationOf(developer, application),
      },
      waiting_since: iso(item.waiting_since),
      claimed_by: live?.admin ?? null,
      claim_expires_at: live ? iso(live.expires_at) : null,
      checklist: checklistOf(app),
      dangerous_scopes: dangerousOf(app),
      checks: checks ? countsOf(checks) : null,
    }
  })
}

const versionOf = (item: ReviewItem, app: App): string =>
  item.kind === 'version' ? item.subject : (app.promoted_version_id ?? 'none')

export const verificationOf = (
  developer: Developer | undefined,
  application: object | undefined,
): 'none' | 'pending' | 'verified' => (developer?.verified ? 'verified' : application ? 'pending' : 'none')

const dangerousOf = ({ requested_scopes }: Pick<App, 'requested_scopes'>): string[] =>
  requested_scopes.filter((scope) => SCOPES[scope as keyof typeof SCOPES]?.[1])

const countsOf = ({ checks, checked_at }: AppChecks): ReviewItemView['checks'] => {
  const count = (status: string) => checks.filter((check) => check.status === status).length
  return {
    passed: count('passed'),
    failed: count('failed'),
    warning: count('warning'),
    skipped: count('skipped'),
    checked_at: iso(checked_at),
  }
}
