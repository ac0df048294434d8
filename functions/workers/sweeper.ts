import { RemovalEntity, WithdrawalEntity } from '#shared/access/installations/index.ts'
import { A2aPushEntity, handleOverduePush } from '#shared/agents/a2a/index.ts'
import { handleOverdueApproval, handleOverdueInput, handleOverdueRun } from '#shared/agents/dispatch/index.ts'
import { handleOverdueOutsideTask, OutsideTaskEntity } from '#shared/agents/outside/index.ts'
import { handleDueSchedule, ScheduleEntity } from '#shared/agents/schedules/index.ts'
import { CardWatchEntity, handleDueCard } from '#shared/catalogue/agent-cards/index.ts'
import { handleOverdueLogoFetch, LogoFetchEntity } from '#shared/catalogue/logos/index.ts'
import { handleOverdueManifest, LooseManifestEntity } from '#shared/catalogue/versions/index.ts'
import { handleOverdueEvent } from '#shared/delivery/fan-out/index.ts'
import { DeliveryEntity, handleOverdueDelivery } from '#shared/delivery/webhooks/index.ts'
import { OutboxEntity } from '#shared/foundation/outbox/index.ts'
import { type OverdueHandler, sweepOverdue } from '#shared/foundation/overdue/index.ts'
import { recordBirth } from '#shared/foundation/upgrades/index.ts'
import type { ScheduledWorker } from '#shared/http/worker.ts'
import { handleOverdueMail, OutgoingMailEntity } from '#shared/identity/mails/index.ts'
import { handleOverdueRemoval, handleOverdueWithdrawal } from '#shared/lifecycle/removal/index.ts'
import { AgentRequestEntity, handleOverdueRank } from '#shared/marketplace/requests/index.ts'
import {
  handleDueDigest,
  handleDueNotificationMail,
  NotificationMailEntity,
  PersonMailEntity,
} from '#shared/messaging/inbox/index.ts'
import { handleOverdueAccount, handleOverdueOutgoing, OutgoingEntity } from '#shared/messaging/messenger/index.ts'
import { handleOverdueStoppage, StoppageEntity } from '#shared/moderation/suspension/index.ts'
import { ChatEntity, handleOverdueChat } from '#shared/work/answering/index.ts'
import {
  FileEntity,
  FolderEntity,
  handleOverdueFile,
  handleOverdueFolder,
  handleOverdueLooseObject,
  LooseObjectEntity,
} from '#shared/work/files/index.ts'
import { ApprovalEntity, InputRequestEntity, RunEntity } from '#shared/work/runs/index.ts'
import { handleOverdueResult, LooseResultEntity } from '#shared/work/tasks/index.ts'
import { AccountEntity } from '#shared/work/threads/index.ts'

/** Handlers of overdue records, from every context. */
export const OVERDUE_HANDLERS: readonly OverdueHandler[] = [
  { entity: OutboxEntity, handle: handleOverdueEvent },
  { entity: DeliveryEntity, handle: handleOverdueDelivery },
  { entity: RunEntity, handle: handleOverdueRun },
  { entity: ApprovalEntity, handle: handleOverdueApproval },
  { entity: InputRequestEntity, handle: handleOverdueInput },
  { entity: A2aPushEntity, handle: handleOverduePush },
  { entity: OutsideTaskEntity, handle: handleOverdueOutsideTask },
  { entity: ScheduleEntity, handle: handleDueSchedule },
  { entity: FileEntity, handle: handleOverdueFile },
  { entity: FolderEntity, handle: handleOverdueFolder },
  { entity: LooseObjectEntity, handle: handleOverdueLooseObject },
  { entity: LooseResultEntity, handle: handleOverdueResult },
  { entity: ChatEntity, handle: handleOverdueChat },
  { entity: RemovalEntity, handle: handleOverdueRemoval },
  { entity: WithdrawalEntity, handle: handleOverdueWithdrawal },
  { entity: StoppageEntity, handle: handleOverdueStoppage },
  { entity: LogoFetchEntity, handle: handleOverdueLogoFetch },
  { entity: LooseManifestEntity, handle: handleOverdueManifest },
  { entity: CardWatchEntity, handle: handleDueCard },
  { entity: AgentRequestEntity, handle: handleOverdueRank },
  { entity: AccountEntity, handle: handleOverdueAccount },
  { entity: OutgoingEntity, handle: handleOverdueOutgoing },
  { entity: OutgoingMailEntity, handle: handleOverdueMail },
  { entity: NotificationMailEntity, handle: handleDueNotificationMail },
  { entity: PersonMailEntity, handle: handleDueDigest },
]

/** Runs every 30 seconds and completes overdue work: should one round die, the next completes it within two minutes. */
export const worker: ScheduledWorker = {
  name: 'sweeper',
  source: { kind: 'schedule', everyMinutes: 1, againAfterSeconds: 30 },
  needs: [
    'table:read',
    'table:write',
    'objects:read',
    'objects:write',
    'files:read',
    'files:write',
    'keys:data',
    'mail',
    'bus:put',
    'queue:delivery',
    'queue:dispatch',
    'queue:approved-tools',
    'queue:inline-runs',
    'queue:messenger',
    'queue:notifications',
    'queue:statistics',
    // A sweep hands over what it can't finish, and its workers what is left after their time.
    'queue:overdue',
  ],
  timeoutSeconds: 55,
  handle: async (work) => {
    await recordBirth(work.table)
    await sweepOverdue(work, OVERDUE_HANDLERS)
  },
}
