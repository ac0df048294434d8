import { nextCheckAt } from '#shared/foundation/overdue/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { ifUnchanged, type Key } from '#shared/table/entity.ts'
import { AccountEntity } from '#shared/work/threads/index.ts'
import { OutgoingEntity } from './entity.ts'
import { accountWake, threadWake } from './wakes.ts'

/** Handles an overdue outgoing message by waking a worker again. */
export const handleOverdueOutgoing = async (work: WorkerWork, key: Key): Promise<void> => {
  const outgoing = await work.table.getByKey(OutgoingEntity, key)
  const now = work.clock.now()
  if (outgoing?.due_at === undefined || outgoing.due_at > now) return
  await work.queues.send('messenger', [threadWake(outgoing)])
  const due_at = nextCheckAt(now, outgoing.created_at)
  await ifUnchanged(
    work.commit([OutgoingEntity.update(outgoing, { set: { due_at } }, { where: { due_at: outgoing.due_at } })]),
  )
}

/** Handles an overdue account, whose webhook is yet to be set or deleted. */
export const handleOverdueAccount = async (work: WorkerWork, key: Key): Promise<void> => {
  const account = await work.table.getByKey(AccountEntity, key)
  const now = work.clock.now()
  if (account?.due_at === undefined || account.due_at > now) return
  await work.queues.send('messenger', [accountWake(account)])
  const due_at = nextCheckAt(now, account.updated_at)
  await ifUnchanged(
    work.commit([AccountEntity.update(account, { set: { due_at } }, { where: { due_at: account.due_at } })]),
  )
}
