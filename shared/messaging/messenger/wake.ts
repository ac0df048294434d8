import * as z from 'zod'
import type { OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { EventMessage } from '#shared/foundation/queues/index.ts'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { completeAccountChange } from './complete-account-change.ts'
import { draftAnswer } from './draft-answer.ts'
import { ingestBusinessUpdate } from './ingest-business.ts'
import { sendQueued } from './send.ts'
import { AccountWake, ThreadWake } from './wakes.ts'

const Send = z.object({ workspace_id: z.string(), thread_id: z.string() })
const Settle = z.object({ workspace_id: z.string(), account_id: z.string() })
const Answer = z.object({ installation_id: z.string(), run_id: z.string() })
const UpdateData = z.object({ update: z.record(z.string(), z.unknown()) })

/** Messages of the messenger worker's queue. */
export const MessengerMessage = () => z.discriminatedUnion('kind', [ThreadWake(), AccountWake(), EventMessage])

export const handleMessengerMessage = (
  work: WorkerWork,
  message: z.infer<ReturnType<typeof MessengerMessage>>,
): Promise<void> => {
  switch (message.kind) {
    case 'thread':
      return sendQueued(work, message)
    case 'account':
      return completeAccountChange(work, message)
    case 'event':
      return handleEvent(work, message.event)
  }
}

const handleEvent = async (work: WorkerWork, { type, data: text }: OutboxEvent): Promise<void> => {
  const data: unknown = JSON.parse(text)
  switch (type) {
    case 'messenger.send':
      return sendQueued(work, Send.parse(data))
    case 'messenger.answer':
      return draftAnswer(work, Answer.parse(data))
    case 'messenger.account':
      return completeAccountChange(work, Settle.parse(data))
    case 'messenger.update':
      return ingestBusinessUpdate(work, UpdateData.parse(data).update)
    default:
      throw new Error(`the messenger’s worker doesn’t handle ${type}`)
  }
}
