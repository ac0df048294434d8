import * as z from 'zod'
import { traceSchema } from '#shared/kernel/tracing/context.ts'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

/** Schema of an event, both stored and on the bus. */
export const outboxSchema = () =>
  z.object({
    id: z.string(),
    type: z.string(),
    created_at: createdAt(),
    workspace_id: z.string(),
    /** Installation that the event belongs to. Absent for events of the whole workspace. */
    installation_id: z.string().optional(),
    app_id: z.string().optional(),
    /**
     * Installation for which it is the last event: it was uninstalled, or its access withdrawn. Its subscriptions get it
     * whatever it may read, and nothing afterwards.
     */
    last_for: z.string().optional(),
    /** Person whose conversation the event is about. Agent pages show it to no one else. Agents themselves see it. */
    private_to: z.string().optional(),
    /** Run in which an agent caused it. Absent if no agent did, or if it isn't known which of its runs. */
    caused_by: z.object({ installation_id: z.string(), run_id: z.string() }).optional(),
    /** JSON text. */
    data: z.string(),
    /** Sample event requested by the app’s developer. Its installation gets it, and no other worker handles it. */
    test: z.literal(true).optional(),
    /** Trace of the change that it reports, if it is to be recorded. */
    trace: traceSchema().optional(),
    /** Its run's changes are pushed to A2A clients. */
    pushes: z.literal(true).optional(),
    /** Its maker carries it, so the stream leaves it out. If it isn't settled in time, the sweeper publishes it. */
    carried: z.literal(true).optional(),
    /** Number in the feed of its own installation. */
    feed_n: z.number().optional(),
    /** Time by which all consumers must have it. Absent once they do. */
    due_at: z.number().optional(),
  })

export type OutboxEvent = z.infer<ReturnType<typeof outboxSchema>>

/**
 * Outbox event, written in the transaction of the change that it reports (transactional outbox). The table's stream
 * sends it to the bus. Deliveries and polling read it for 30 days.
 */
export const OutboxEntity = defineEntity({
  name: 'outbox',
  schema: outboxSchema,
  pk: 'EVT#{id}',
  sk: 'EVT',
  personal: { text: ['data'] },
  retention: { workspace: 'expires', person: 'kept', app: 'kept', days: 31 },
  due: true,
  expires: ({ created_at }) => created_at + 31 * 86_400_000,
})
