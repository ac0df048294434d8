import * as z from 'zod'
import { DAY } from '#shared/kernel/clock.ts'
import { defineEntity } from '#shared/table/entity.ts'

const receiptUse = () => z.object({ id: z.string(), run_id: z.string(), step_id: z.string(), used_at: z.number() })

/** Keeps a receipt's use for longer than the approval that it allows can wait, restored backups included. */
const KEPT = 400 * DAY

/**
 * Mark that a receipt was used to execute its call, so that it never is again. Only the function that executes approved
 * calls may write it (infra/grants.ts), and none may change it.
 */
export const ReceiptUseEntity = defineEntity({
  name: 'receipt-use',
  schema: receiptUse,
  pk: 'RECEIPT#{id}',
  sk: 'USED',
  personal: 'none',
  retention: { workspace: 'kept', person: 'kept', app: 'kept' },
  expires: ({ used_at }) => used_at + KEPT,
})
