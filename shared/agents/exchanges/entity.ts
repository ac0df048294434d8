import * as z from 'zod'
import { payloadExpiry } from '#shared/foundation/payloads/index.ts'
import { defineEntity } from '#shared/table/entity.ts'

const message = () =>
  z.object({
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    /** True if only the start of the body is stored. */
    truncated: z.boolean(),
  })

const exchange = () =>
  z.object({
    run_id: z.string(),
    app_id: z.string(),
    workspace_id: z.string(),
    /** Time at which the request was sent. A run has one exchange for each attempt and resumption. */
    sent_at: z.number(),
    attempt: z.number(),
    url: z.string(),
    request: message(),
    /** Absent if there was no complete response. */
    response: message().extend({ status: z.number() }).optional(),
    /** Why there was no complete response. */
    error: z.string().optional(),
    hint: z.string().optional(),
    duration_ms: z.number(),
    created_at: z.number(),
  })

export type RunExchange = z.infer<ReturnType<typeof exchange>>

/** Request and response of `run.execute`. Written only for runs in the sandbox of the app's own developer. */
export const RunExchangeEntity = defineEntity({
  name: 'run-exchange',
  schema: exchange,
  pk: 'RUN#{run_id}',
  sk: 'EXCHANGE#{sent_at}',
  personal: { text: ['request', 'response'] },
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
  expires: payloadExpiry,
})
