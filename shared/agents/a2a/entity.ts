import * as z from 'zod'
import { DAY } from '#shared/kernel/clock.ts'
import { defineEntity } from '#shared/table/entity.ts'

/** Time for which a task is found by its caller, and a context by its tasks. */
export const TASK_LIFE = 90 * DAY

const a2aTask = () =>
  z.object({
    installation_id: z.string(),
    /** SHA-256 of the caller's name, so that a person's id is in no key. */
    by_hash: z.string(),
    run_id: z.string(),
    /** SHA-256 of agent, caller and context. */
    context_hash: z.string(),
    created_at: z.number(),
  })

/** A task that a caller started at an agent: the caller's list there, and that of its context. */
export const A2aTaskEntity = defineEntity({
  name: 'a2a-task',
  schema: a2aTask,
  pk: 'A2A#{installation_id}#{by_hash}',
  sk: 'TASK#{run_id}',
  personal: 'none',
  retention: { workspace: 'expires', person: 'expires', app: 'kept', days: 90 },
  expires: ({ created_at }) => created_at + TASK_LIFE,
  list: ({ context_hash, run_id }) => ({ owner: `A2A-CONTEXT#${context_hash}`, sort: run_id }),
})

const a2aMessage = () =>
  z.object({
    /** SHA-256 of agent, caller and the message's id. */
    message_hash: z.string(),
    /** SHA-256 of the message. The same id with another message is refused. */
    body_hash: z.string(),
    run_id: z.string(),
    created_at: z.number(),
  })

/** A message that was taken. Sending it again within 24 hours gets the same task. */
export const A2aMessageEntity = defineEntity({
  name: 'a2a-message',
  schema: a2aMessage,
  pk: 'A2A-MESSAGE#{message_hash}',
  sk: 'MESSAGE',
  personal: 'none',
  retention: { workspace: 'expires', person: 'expires', app: 'kept', days: 1 },
  expires: ({ created_at }) => created_at + DAY,
})
