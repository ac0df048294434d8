import * as z from 'zod'
import { payloadExpiry } from '#shared/foundation/payloads/index.ts'
import { defineEntity } from '#shared/table/entity.ts'

const outsideTask = () =>
  z.object({
    run_id: z.string(),
    installation_id: z.string(),
    /** Id that the outside agent gave its task. Absent until its first answer. */
    task_id: z.string().optional(),
    /** Context of the outside agent, if it named one. */
    context_id: z.string().optional(),
    /** True once nothing is left to do: the task ended, or was cancelled. */
    is_over: z.boolean(),
    /** Raised by every change and every check of the task, so that one worker at a time acts on it. */
    round: z.number(),
    /** Looks at the task since the last message to it. */
    checks: z.number(),
    /** Number of questions whose answers were sent. */
    answers: z.number(),
    /** Fingerprint of the status that asked the latest question, and of the one that was answered last. */
    asked: z.string().optional(),
    answered: z.string().optional(),
    /** Fingerprint of the status whose text became the latest step. */
    reported: z.string().optional(),
    /** Time of the first read that failed since the last good one. */
    failing_since: z.number().optional(),
    /** Owners of the run, and the hash of the token that the agent's push notifications bring. Absent if it offers none. */
    push: z.object({ token_hash: z.string(), workspace_id: z.string(), app_id: z.string() }).optional(),
    /** A notification came that no check has followed yet. */
    is_notified: z.boolean().optional(),
    /** Time of the latest check. */
    checked_at: z.number().optional(),
    /** Attempts to cancel the task. */
    cancels: z.number(),
    created_at: z.number(),
    /** Time at which the sweeper checks the task, if the message for it was lost. */
    due_at: z.number().optional(),
  })

export type OutsideTask = z.infer<ReturnType<typeof outsideTask>>

/** The task of an outside A2A agent that works on a run. Written before the run is sent. */
export const OutsideTaskEntity = defineEntity({
  name: 'outside-task',
  schema: outsideTask,
  pk: 'RUN#{run_id}',
  sk: 'OUTSIDE',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  due: true,
  expires: payloadExpiry,
})
