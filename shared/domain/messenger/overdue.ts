import { AccountEntity, OutgoingEntity } from '../../entities/messenger.ts'
import { ifUnchanged, type Key } from '../../table/entity.ts'
import type { WorkerWork } from '../deps.ts'
import { nextLook } from '../events/overdue.ts'
import { wakeForAccount, wakeForDialog } from './wakes.ts'

/** What the sweep does about a message that was not sent in time: wakes a worker again. */
export const handleOverdueOutgoing = async (work: WorkerWork, key: Key): Promise<void> => {
  const outgoing = await work.table.getByKey(OutgoingEntity, key)
  const now = work.clock.now()
  if (outgoing?.due_at === undefined || outgoing.due_at > now) return
  await work.queues.send('messenger', [wakeForDialog(outgoing)])
  const due_at = nextLook(now, outgoing.created_at)
  await ifUnchanged(
    work.commit([OutgoingEntity.update(outgoing, { set: { due_at } }, { where: { due_at: outgoing.due_at } })]),
  )
}

/** What the sweep does about an account that waits for its webhook to be set or taken off. */
export const handleOverdueAccount = async (work: WorkerWork, key: Key): Promise<void> => {
  const account = await work.table.getByKey(AccountEntity, key)
  const now = work.clock.now()
  if (account?.due_at === undefined || account.due_at > now) return
  await work.queues.send('messenger', [wakeForAccount(account)])
  const due_at = nextLook(now, account.updated_at)
  await ifUnchanged(
    work.commit([AccountEntity.update(account, { set: { due_at } }, { where: { due_at: account.due_at } })]),
  )
}
