import { AbuseReportEntity, abuseReportsBy, SentAbuseReportEntity } from '../../entities/abuse.ts'
import { InstallationEntity, installationsBy } from '../../entities/installations.ts'
import { AccountEntity } from '../../entities/messenger.ts'
import {
  AgentRequestEntity,
  AskedRequestEntity,
  RequestVoteEntity,
  requestsBy,
  WorkspaceReviewEntity,
} from '../../entities/reviews.ts'
import { PlatformError } from '../../kernel/errors.ts'
import type { ItemOf } from '../../table/entity.ts'
import type { Work } from '../deps.ts'
import { releaseBot } from '../messenger/claim.ts'
import { forgetPerson } from '../messenger/remove.ts'
import { removeReview } from '../reviews/write.ts'
import { counted } from '../totals.ts'
import { tryAgain } from '../try-again.ts'

type Undo<T> = (work: Work, item: T) => Promise<void>

/** The review goes out of its app's aggregates. */
const undoReview: Undo<ItemOf<typeof WorkspaceReviewEntity>> = async (work, { workspace_id, app_id }) => {
  try {
    await removeReview(work, { workspace: { id: workspace_id } }, app_id)
  } catch (error) {
    if (!(error instanceof PlatformError && error.code === 'not_found')) throw error
  }
}

const VOTES = 50

/** The wish goes off the board, with the votes for it. */
const undoRequest: Undo<ItemOf<typeof AskedRequestEntity>> = async (work, { request_id }) => {
  await tryAgain(async () => {
    const request = await work.table.get(AgentRequestEntity, { id: request_id })
    if (!request) return
    await work.table.transact([
      AgentRequestEntity.delete(request, { where: { status: request.status } }),
      counted(requestsBy(request.status), request.id, -1),
    ])
  })
  // No vote comes any more once it is gone.
  for (;;) {
    const { items } = await work.table.query(RequestVoteEntity, { request_id }, { limit: VOTES })
    if (items.length === 0) return
    await Promise.all(items.map((vote) => work.table.transact([RequestVoteEntity.delete(vote)])))
  }
}

const undoReport: Undo<ItemOf<typeof SentAbuseReportEntity>> = (work, { report_id }) =>
  tryAgain(async () => {
    const report = await work.table.get(AbuseReportEntity, { id: report_id })
    if (!report) return
    await work.table.transact([
      AbuseReportEntity.delete(report, { where: { status: report.status } }),
      counted(abuseReportsBy(report.status), report.id, -1),
    ])
  })

/** One that could not be uninstalled in an orderly way is counted no more. */
const undoInstallation: Undo<ItemOf<typeof InstallationEntity>> = (work, { workspace_id, id }) =>
  tryAgain(async () => {
    const installation = await work.table.get(InstallationEntity, { workspace_id, id })
    if (!installation || installation.status === 'revoked') return
    const { status } = installation
    await work.table.transact([
      InstallationEntity.update(installation, { set: { status: 'revoked' } }, { where: { status } }),
      counted(installationsBy(status), id, -1),
    ])
  })

/** A bot, or a person, that was not disconnected in an orderly way may be connected elsewhere all the same. */
const undoAccount: Undo<ItemOf<typeof AccountEntity>> = (work, account) =>
  tryAgain(async () =>
    work.table.transact([
      ...(await releaseBot(work, account)),
      ...(await forgetPerson(work, account.telegram_id, account.id)),
    ]),
  )

/** What a record counts in, or keeps from others, beyond its workspace, is set right before it goes; again, it changes nothing. */
export const undoing = (name: string): Undo<never> | undefined => UNDO.get(name)

const UNDO = new Map<string, Undo<never>>([
  [WorkspaceReviewEntity.name, undoReview],
  [AskedRequestEntity.name, undoRequest],
  [SentAbuseReportEntity.name, undoReport],
  [InstallationEntity.name, undoInstallation],
  [AccountEntity.name, undoAccount],
])
