import { InstallationEntity } from '#shared/access/installations/index.ts'
import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { announceChange } from '#shared/foundation/updates/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { type Notification, NotificationEntity, notificationTexts } from '#shared/identity/notifications/index.ts'
import { type Member, MemberEntity } from '#shared/identity/people/index.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { stampOf } from '#shared/kernel/ids.ts'
import { type Message, msg } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import { ConditionFailed } from '#shared/table/entity.ts'
import { eachPage } from '#shared/table/pages.ts'
import { approverTest } from '#shared/work/approvals/index.ts'
import { ApprovalEntity, RunEntity, requestLines } from '#shared/work/runs/index.ts'
import { NotifiedEventEntity } from './entity.ts'
import type { PersonMessage } from './person-message.ts'

/**
 * Queues a notification for each of its recipients. A redelivered event queues it again, and `tell-person.ts` skips
 * recipients who already received it.
 */
export const announceEvent = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  if (event.test) return
  const notification =
    event.type === 'run.awaiting_approval' ? await ofApproval(work, event) : await ofEvent(work, event)
  // Without a bot and e-mail, the notification appears in the console only.
  if (!notification || !(work.settings.mailFrom !== undefined || (await work.bot.credentials()))) return
  const { id: notification_id, workspace_id, user_id } = notification
  const isAsked = event.type === 'run.awaiting_approval' ? await whoIsAsked(work, event) : () => true
  if (user_id !== undefined) return handOn(work, [{ kind: 'person', notification_id, workspace_id, user_id }])
  for await (const members of eachPage((after) =>
    work.table.query(MemberEntity, { workspace_id }, { limit: 100, after }),
  )) {
    await handOn(
      work,
      members
        .filter(isAsked)
        .map((member) => ({ kind: 'person' as const, notification_id, workspace_id, user_id: member.user_id })),
    )
  }
}

/** Asks for the decision, and says how long there is for it. */
const askToDecide = (ms: number): Message => {
  const minutes = Math.max(1, Math.round(ms / MINUTE))
  return minutes < 120
    ? msg(
        'Open it to read the whole request. Approve or reject it within {minutes, plural, one {# minute} other {# minutes}}.',
        { minutes },
      )
    : msg(
        'Open it to read the whole request. Approve or reject it within {hours, plural, one {# hour} other {# hours}}.',
        { hours: Math.round(minutes / 60) },
      )
}

/** Only those who may approve get a message. The console lists the call for everyone who may see it. */
const whoIsAsked = async (work: WorkerWork, event: OutboxEvent): Promise<(member: Member) => boolean> => {
  const { run_id, installation_id, step_id } = JSON.parse(event.data)
  const [run, approval] = await work.table.getAll([
    RunEntity.ref({ installation_id, id: run_id }),
    ApprovalEntity.ref({ run_id, step_id }),
  ] as const)
  return run && approval ? approverTest(work, run, approval) : () => true
}

const handOn = (work: WorkerWork, people: PersonMessage[]): Promise<void> =>
  work.queues.send(
    'notifications',
    people.map((body) => ({ body, group: body.workspace_id })),
  )

const ofEvent = async ({ table }: WorkerWork, { workspace_id, data }: OutboxEvent): Promise<Notification | undefined> =>
  table.get(NotificationEntity, { workspace_id, id: JSON.parse(data).notification_id })

/**
 * Creates the notification that a run needs approval, once per event. It goes to everyone, or to the user whose
 * conversation the run belongs to. The agent gets the event itself, so it isn't notified.
 * @returns undefined if the approval was decided in the meantime
 */
const ofApproval = async (work: WorkerWork, event: OutboxEvent): Promise<Notification | undefined> => {
  const { table, clock } = work
  const { id: event_id, workspace_id } = event
  const { run_id, installation_id, step_id, tool } = JSON.parse(event.data)
  const [made, run, installation, approval] = await table.getAll([
    NotifiedEventEntity.ref({ event_id }),
    RunEntity.ref({ installation_id, id: run_id }),
    InstallationEntity.ref({ workspace_id, id: installation_id }),
    ApprovalEntity.ref({ run_id, step_id }),
  ])
  if (run?.pending_step !== step_id) return undefined
  if (made) return table.get(NotificationEntity, { workspace_id, id: made.notification_id })
  const now = clock.now()
  const notification: Notification = {
    ...stampOf(work.id('notification')),
    workspace_id,
    user_id: run?.private_to,
    kind: 'run.awaiting_approval',
    ...notificationTexts(
      installation
        ? msg('{agent} needs your approval', { agent: quoteName(installation.app_name) })
        : msg('An agent needs your approval'),
      [
        msg('It wants to use {tool}.', { tool }),
        ...(approval?.request ? requestLines(approval.request) : []),
        askToDecide((approval?.due_at ?? now + DAY) - now),
      ],
    ),
    installation_id,
    app_id: run?.app_id,
    target: { type: 'run', id: run_id, step_id },
  }
  try {
    await work.commit([
      NotifiedEventEntity.create({ event_id, notification_id: notification.id, created_at: now }),
      NotificationEntity.create(notification),
    ])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    // Another worker created it at the same time.
    return ofApproval(work, event)
  }
  await announceChange(work, notification, ['notifications'])
  return notification
}
