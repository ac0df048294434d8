import * as z from 'zod'
import type { BusMessage } from '../../events/queues.ts'
import type { WorkerWork } from '../deps.ts'
import { takeInBusiness } from './business.ts'
import { draftAnswer } from './draft-answer.ts'
import { sendWaiting } from './send.ts'
import { settleAccount } from './settle.ts'

const Send = z.object({ workspace_id: z.string(), dialog_id: z.string() })
const Settle = z.object({ workspace_id: z.string(), account_id: z.string() })
const Answer = z.object({ installation_id: z.string(), run_id: z.string() })
const Told = z.object({ update: z.record(z.string(), z.unknown()) })

/** What the messenger's worker does when it is woken. */
export const handleMessengerWake = async (work: WorkerWork, { detail }: z.infer<typeof BusMessage>): Promise<void> => {
  const data: unknown = JSON.parse(detail.data)
  switch (detail.type) {
    case 'messenger.send':
      return sendWaiting(work, Send.parse(data))
    case 'messenger.answer':
      return draftAnswer(work, Answer.parse(data))
    case 'messenger.account':
      return settleAccount(work, Settle.parse(data))
    case 'messenger.update':
      return takeInBusiness(work, Told.parse(data).update)
    default:
      throw new Error(`the messenger does nothing about ${detail.type}`)
  }
}
