import { InstallationEntity, installationsBy } from '#shared/access/installations/index.ts'
import { totalWrite } from '#shared/foundation/totals/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import {
  AgentRequestEntity,
  AskedRequestEntity,
  RequestVoteEntity,
  requestsBy,
} from '#shared/marketplace/requests/index.ts'
import { removeReview, WorkspaceReviewEntity } from '#shared/marketplace/reviews/index.ts'
import { releaseBot, releasePersonWrites } from '#shared/messaging/messenger/index.ts'
import { AbuseReportEntity, abuseReportsBy, SentAbuseReportEntity } from '#shared/moderation/abuse/index.ts'
import type { ItemOf } from '#shared/table/entity.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { AccountEntity } from '#shared/work/threads/index.ts'

type Undo<T> = (work: Work, item: T) => Promise<void>

/** Takes the review out of its app's aggregates. */
const undoReview: Undo<ItemOf<typeof WorkspaceReviewEntity>> = async (work, { workspace_id, app_id }) => {
  try {
    await removeReview(work, { workspace: { id: workspace_id } }, app_id)
  } catch (error) {
    if (!(error instanceof PlatformError && error.code === 'not_found')) throw error
  }
}

const VOTES = 50

/** Takes the request off the board, with its votes. */
const undoRequest: Undo<ItemOf<typeof AskedRequestEntity>> = async (work, { request_id }) => {
  await retryOnConflict(async () => {
    const request = await work.table.get(AgentRequestEntity, { id: request_id })
    if (!request) return
    await work.table.transact([
      AgentRequestEntity.delete(request, { where: { status: request.status } }),
      totalWrite(requestsBy(request.status), request.id, -1),
    ])
  })
  // No new votes arrive once the request is deleted.
  for (;;) {
    const { items } = await work.table.query(RequestVoteEntity, { request_id }, { limit: VOTES })
    if (items.length === 0) return
    await Promise.all(items.map((vote) => work.table.transact([RequestVoteEntity.delete(vote)])))
  }
}

const undoReport: Undo<ItemOf<typeof SentAbuseReportEntity>> = (work, { report_id }) =>
  retryOnConflict(async () => {
    const report = await work.table.get(AbuseReportEntity, { id: report_id })
    if (!report) return
    await work.table.transact([
      AbuseReportEntity.delete(report, { where: { status: report.status } }),
      totalWrite(abuseReportsBy(report.status), report.id, -1),
    ])
  })

/** Stops counting an installation that could not be uninstalled in the regular way. */
const undoInstallation: Undo<ItemOf<typeof InstallationEntity>> = (work, { workspace_id, id }) =>
  retryOnConflict(async () => {
    const installation = await work.table.get(InstallationEntity, { workspace_id, id })
    if (!installation || installation.status === 'revoked') return
    const { status } = installation
    await work.table.transact([
      InstallationEntity.update(installation, { set: { status: 'revoked' } }, { where: { status } }),
      totalWrite(installationsBy(status), id, -1),
    ])
  })

/**
 * Releases the claim of a bot or a person that was not disconnected in the regular way, so that they can connect
 * elsewhere.
 */
const undoAccount: Undo<ItemOf<typeof AccountEntity>> = (work, account) =>
  retryOnConflict(async () =>
    work.table.transact([
      ...(await releaseBot(work, account)),
      ...(await releasePersonWrites(work, account.telegram_id, account.id)),
    ]),
  )

/**
 * Returns the function that undoes a record's effects outside its workspace before the record is deleted. It corrects
 * counters and releases claims, and is idempotent.
 */
export const undoFor = (name: string): Undo<never> | undefined => UNDO.get(name)

const UNDO = new Map<string, Undo<never>>([
  [WorkspaceReviewEntity.name, undoReview],
  [AskedRequestEntity.name, undoRequest],
  [SentAbuseReportEntity.name, undoReport],
  [InstallationEntity.name, undoInstallation],
  [AccountEntity.name, undoAccount],
])
