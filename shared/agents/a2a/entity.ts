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

const a2aPush = () =>
  z.object({
    run_id: z.string(),
    /** One of the places that a task has for configurations, from 1. */
    slot: z.number(),
    /** The caller's name for it, or the platform's. */
    id: z.string(),
    /** The agent, whose task it is. */
    installation_id: z.string(),
    workspace_id: z.string(),
    /** Installation of the caller, and its app. Absent for a person. */
    caller: z.object({ installation_id: z.string(), app_id: z.string() }).optional(),
    /** Grant of the host that a person calls through. */
    grant: z.object({ id: z.string(), user_id: z.string() }).optional(),
    version: z.enum(['1.0', '0.3']),
    url: z.string(),
    /** Sealed. */
    token: z.string().optional(),
    /** Scheme of the `Authorization` header. */
    scheme: z.string().optional(),
    /** Sealed. */
    credentials: z.string().optional(),
    /** Id of the last event that was sent, or given up; '' before the first. */
    sent: z.string(),
    /** Attempts made for the event after it. */
    attempt: z.number(),
    /** Events given up in a row. */
    failures: z.number(),
    /** Time of the next look at the task. Absent once its end is sent. */
    next_at: z.number().optional(),
    /** Pause before it, in ms. */
    pause: z.number(),
    /** Incremented by each worker that takes it. */
    turn: z.number(),
    leased_until: z.number().optional(),
    set_at: z.number(),
    due_at: z.number().optional(),
  })

export type A2aPush = z.infer<ReturnType<typeof a2aPush>>

/** Configuration of push notifications for a task: where its changes go, and how far they went. */
export const A2aPushEntity = defineEntity({
  name: 'a2a-push',
  schema: a2aPush,
  pk: 'RUN#{run_id}',
  sk: 'PUSH#{slot}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'expires', app: 'kept' },
  due: true,
  expires: ({ set_at }) => set_at + TASK_LIFE,
})
