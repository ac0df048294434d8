import type { OutboxEvent } from '../../entities/events.ts'
import { NotifiedEventEntity } from '../../entities/inbox.ts'
import { InstallationEntity } from '../../entities/installations.ts'
import { type Notification, NotificationEntity } from '../../entities/notifications.ts'
import { MemberEntity } from '../../entities/people.ts'
import { RunEntity } from '../../entities/runs.ts'
import type { PersonMessage } from '../../events/queues.ts'
import { ConditionFailed } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { markChanged } from '../updates/mark.ts'

/**
 * Hands a notification on to each person concerned. What comes again hands it on again: who was told is known for each
 * person (`tell-person.ts`).
 */
export const announceEvent = async (work: WorkerWork, event: OutboxEvent): Promise<void> => {
  if (event.test) return
  const notification =
    event.type === 'run.awaiting_approval' ? await ofApproval(work, event) : await ofEvent(work, event)
  // Without a bot there is nobody to tell it; in the console it stands.
  if (!notification || !(await work.bot.credentials())) return
  const { id: notification_id, workspace_id, user_id } = notification
  if (user_id !== undefined) return handOn(work, [{ notification_id, workspace_id, user_id }])
  let after: string | undefined
  do {
    const members = await work.table.query(MemberEntity, { workspace_id }, { limit: 100, after })
    await handOn(
      work,
      members.items.map((member) => ({ notification_id, workspace_id, user_id: member.user_id })),
    )
    after = members.next
  } while (after !== undefined)
}

const handOn = (work: WorkerWork, people: PersonMessage[]): Promise<void> =>
  work.queues.send(
    'notifications',
    people.map((body) => ({ body, group: body.workspace_id })),
  )

const ofEvent = async ({ table }: WorkerWork, { workspace_id, data }: OutboxEvent): Promise<Notification | undefined> =>
  table.get(NotificationEntity, { workspace_id, id: JSON.parse(data).notification_id })

/**
 * The notification that a run waits for somebody to decide: for everybody, or for the person whose chat it belongs to. It is
 * made here, beside the run's own work, once for each event. The agent is not told: it has the event itself.
 * @returns undefined when it was decided meanwhile
 */
const ofApproval = async (work: WorkerWork, event: OutboxEvent): Promise<Notification | undefined> => {
  const { table, clock } = work
  const { id: event_id, workspace_id } = event
  const { run_id, installation_id, step_id, tool } = JSON.parse(event.data)
  const [made, run, installation] = await table.getAll([
    { entity: NotifiedEventEntity, key: NotifiedEventEntity.key({ event_id }) },
    { entity: RunEntity, key: RunEntity.key({ installation_id, id: run_id }) },
    { entity: InstallationEntity, key: InstallationEntity.key({ workspace_id, id: installation_id }) },
  ])
  if (run?.pending_step !== step_id) return undefined
  if (made) return table.get(NotificationEntity, { workspace_id, id: made.notification_id })
  const now = clock.now()
  const notification: Notification = {
    id: work.id('notification'),
    workspace_id,
    user_id: run?.private_to,
    kind: 'run.awaiting_approval',
    title: `${installation?.app_name ?? 'An agent'} waits for approval`,
    body: `It wants to use ${tool}. Look at what exactly, then allow or reject it within 24 hours.`,
    installation_id,
    app_id: run?.app_id,
    target: { type: 'run', id: run_id, step_id },
    created_at: now,
  }
  try {
    await work.commit([
      NotifiedEventEntity.create({ event_id, notification_id: notification.id, created_at: now }),
      NotificationEntity.create(notification),
    ])
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    // Another worker made it in the same moment.
    return ofApproval(work, event)
  }
  await markChanged(work, workspace_id, ['notifications'])
  return notification
}
