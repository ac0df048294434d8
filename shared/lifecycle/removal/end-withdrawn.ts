import {
  ACCESS_WITHDRAWN,
  hasConsent,
  InstallationEntity,
  WithdrawalEntity,
} from '#shared/access/installations/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { MINUTE } from '#shared/kernel/clock.ts'
import { ifUnchanged, type Key } from '#shared/table/entity.ts'
import { finishIf, listActiveRuns } from '#shared/work/runs/index.ts'

/** Time for which requests admitted before the withdrawal may still write. */
const STILL_WRITING = MINUTE

/**
 * Cancels the active runs of an installation whose last consent ended, each with its event, which voids pending approvals.
 * Runs that began under a later consent stay.
 *
 * It may be woken twice, run late, or stop anywhere. It is done only when a whole round finds that no other request can
 * still write.
 */
export const endWithdrawnAccess = async (work: WorkerWork, installation_id: string): Promise<void> => {
  const withdrawal = await work.table.get(WithdrawalEntity, { installation_id })
  if (withdrawal?.due_at === undefined) return
  const { workspace_id, created_at, due_at } = withdrawal
  const begun = work.clock.now()
  const installation = await work.table.get(InstallationEntity, { workspace_id, id: installation_id })
  const isRestored = installation !== undefined && hasConsent(installation)
  const [error_code, error_message] = ACCESS_WITHDRAWN
  for (const id of await listActiveRuns(work, installation_id)) {
    await finishIf(work, { installation_id, id }, (run) => !isRestored || run.created_at <= created_at, {
      status: 'cancelled',
      error_code,
      error_message,
    })
  }
  if (begun < created_at + STILL_WRITING) return
  await ifUnchanged(
    work.commit([
      WithdrawalEntity.update(withdrawal, { set: { due_at: undefined } }, { where: { due_at, created_at } }),
    ]),
  )
}

/** Handles an overdue withdrawal with a round that finds all late writes. */
export const handleOverdueWithdrawal = async (work: WorkerWork, key: Key): Promise<void> => {
  const withdrawal = await work.table.getByKey(WithdrawalEntity, key)
  if (withdrawal?.due_at === undefined || withdrawal.due_at > work.clock.now()) return
  await endWithdrawnAccess(work, withdrawal.installation_id)
}
