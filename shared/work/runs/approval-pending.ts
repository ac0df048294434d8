import { type Approval, ApprovalEntity, type Run } from './entity.ts'
import { stepChange } from './stream-numbers.ts'

/**
 * Writes that void an approval. Its call is no longer executed, and its step shows that.
 * @param run state after the earlier writes of the same transaction to its stream
 */
export const voidApprovalWrites = (run: Run, approval: Approval, from: 'pending' | 'approved') => {
  const step = stepChange(run, approval, { status: 'voided' })
  return {
    writes: [
      ApprovalEntity.update(approval, { set: { status: 'voided', due_at: undefined } }, { where: { status: from } }),
      step.write,
    ],
    counts: step.counts,
  }
}
