import { type App, AppEntity, revisedFieldNames, withRevision } from '#shared/catalogue/apps/index.ts'
import { logoPath } from '#shared/catalogue/logos/index.ts'
import {
  REVIEW_KINDS,
  type ReviewClaim,
  ReviewClaimEntity,
  type ReviewItem,
  ReviewItemEntity,
  type ReviewKind,
  reviewQueue,
} from '#shared/catalogue/review-queue/index.ts'
import { type Version, VersionEntity } from '#shared/catalogue/versions/index.ts'
import { ClaimEntity } from '#shared/foundation/claims/index.ts'
import { readTotal } from '#shared/foundation/totals/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { type Developer, DeveloperEntity } from '#shared/identity/developers/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { SCOPES } from '#shared/kernel/scopes.ts'
import type { Ref } from '#shared/table/entity.ts'
import { pageAtOffset } from '#shared/table/lists.ts'
import { openApplicationClaim } from '../verification/apply.ts'
import { checklistOf } from './checklist.ts'
import { type AppChecks, AppChecksEntity } from './entity.ts'
import type { ReviewItemView } from './schemas.ts'

interface Page {
  kind?: ReviewKind | undefined
  limit: number
  offset: number
}

/**
 * Handles `GET /admin/review`: lists waiting items, oldest first. A page takes three batch reads, whatever its size.
 */
export const listQueue = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  { kind, limit, offset }: Page,
): Promise<{ items: ReviewItemView[]; total: number }> => {
  const lists = (kind === undefined ? REVIEW_KINDS : [kind]).map(reviewQueue)
  const [total, waiting] = await Promise.all([
    readTotal(deps, lists),
    pageAtOffset(
      deps.table,
      ReviewItemEntity,
      lists.map((directory) => ({ directory })),
      { limit, offset, ascending: true },
    ),
  ])
  return { items: await presentItems(deps, waiting), total }
}

const presentItems = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  waiting: readonly ReviewItem[],
): Promise<ReviewItemView[]> => {
  const first = await table.getAll(
    waiting.flatMap(({ app_id }): Ref[] => [AppEntity.ref({ id: app_id }), ReviewClaimEntity.ref({ app_id })]),
  )
  const found = waiting.flatMap((item, i) => {
    const app = first[2 * i] as App | undefined
    return app ? [{ item, app, claim: first[2 * i + 1] as ReviewClaim | undefined }] : []
  })
  const second = await table.getAll(
    found.flatMap(({ item, app }): Ref[] => {
      const at = { app_id: app.id, id: versionOf(item, app) }
      return [
        DeveloperEntity.ref({ id: app.developer_id }),
        ClaimEntity.ref(openApplicationClaim(app.developer_id)),
        VersionEntity.ref(at),
        AppChecksEntity.ref({ app_id: app.id, version_id: at.id }),
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
        logo_path: logoPath(app),
      },
      version: version ? { id: version.id, version: version.version } : null,
      revision: presentRevision(item, app),
      developer: {
        id: app.developer_id,
        name: developer?.company ?? developer?.name ?? '',
        verified: developer?.verified ?? false,
        verification: verificationStatusOf(developer, application),
      },
      waiting_since: iso(item.waiting_since),
      claimed_by: live?.admin ?? null,
      claim_expires_at: live ? iso(live.expires_at) : null,
      checklist: checklistOf(app),
      dangerous_scopes: dangerousOf(withRevision(app)),
      checks: checks ? countsOf(checks) : null,
    }
  })
}

const presentRevision = ({ kind, subject }: ReviewItem, { pending_revision }: App): ReviewItemView['revision'] =>
  kind === 'revision' ? { id: subject, fields: pending_revision ? revisedFieldNames(pending_revision) : [] } : null

const versionOf = (item: ReviewItem, app: App): string =>
  item.kind === 'version' ? item.subject : (app.promoted_version_id ?? 'none')

export const verificationStatusOf = (
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
