import * as z from 'zod'
import type { BusMessage } from '#shared/foundation/queues/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { completeAccountChange } from './complete-account-change.ts'
import { draftAnswer } from './draft-answer.ts'
import { ingestBusinessUpdate } from './ingest-business.ts'
import { sendQueued } from './send.ts'

const Send = z.object({ workspace_id: z.string(), dialog_id: z.string() })
const Settle = z.object({ workspace_id: z.string(), account_id: z.string() })
const Answer = z.object({ installation_id: z.string(), run_id: z.string() })
const Told = z.object({ update: z.record(z.string(), z.unknown()) })

/** Handles the messages on the messenger worker's queue. */
export const handleMessengerWake = async (work: WorkerWork, { detail }: z.infer<typeof BusMessage>): Promise<void> => {
  const data: unknown = JSON.parse(detail.data)
  switch (detail.type) {
    case 'messenger.send':
      return sendQueued(work, Send.parse(data))
    case 'messenger.answer':
      return draftAnswer(work, Answer.parse(data))
    case 'messenger.account':
      return completeAccountChange(work, Settle.parse(data))
    case 'messenger.update':
      return ingestBusinessUpdate(work, Told.parse(data).update)
    default:
      throw new Error(`the messenger’s worker doesn’t handle ${detail.type}`)
  }
}
