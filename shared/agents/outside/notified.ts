import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isSecret, sameSecret, sha256 } from '#shared/kernel/secrets.ts'
import { ifUnchanged } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import type { A2A_EVENTS } from '../a2a/events.ts'
import { OutsideTaskEntity } from './entity.ts'

/**
 * Takes an outside agent's push notification: a worker reads the task then. Until it does, further notifications change nothing.
 * @throws `unauthorized`, the same for an unknown run and a wrong token
 */
export const takeNotification = async (work: Work, run_id: string, token: string | undefined): Promise<void> => {
  if (token === undefined || !isSecret(token)) throw wrongToken()
  const task = await work.table.get(OutsideTaskEntity, { run_id })
  if (task?.push === undefined || !sameSecret(sha256(token), task.push.token_hash)) throw wrongToken()
  if (task.is_over || task.is_notified) return
  const { installation_id } = task
  const { workspace_id, app_id } = task.push
  // Of several at once, one counts.
  await ifUnchanged(
    work.commit(
      [
        OutsideTaskEntity.update(task, { set: { is_notified: true } }, { where: { is_notified: missing } }),
        emitEvent<keyof typeof A2A_EVENTS>(work.clock, {
          type: 'a2a.task_notified',
          workspace_id,
          installation_id,
          app_id,
          data: { run_id, installation_id },
        }),
      ],
      {},
    ),
  )
}

const wrongToken = () =>
  fail('unauthorized', {
    message: 'The notification token is missing, or isn’t the one of this task.',
    fix: 'Send the token of the push notification configuration in X-A2A-Notification-Token.',
  })
