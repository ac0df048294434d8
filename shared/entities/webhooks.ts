import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const subscription = () =>
  z.object({
    id: z.string(),
    installation_id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    description: z.string(),
    status: z.enum(['active', 'disabled']),
    last_error: z.string().nullable(),
    consecutive_failures: z.number(),
    /** Sealed `whsec_…`, newest first; an older one signs too until its time. */
    secrets: z.array(z.object({ value: z.string(), until: z.number().optional() })),
    /** Raised at every rotation, so that of two at the same time none is lost. */
    secret_version: z.number(),
    /** Raised at every disabling: a waiting delivery of an older generation is skipped without touching each. */
    generation: z.number(),
    created_at: z.number(),
    disabled_at: z.number().nullable(),
  })

export type Subscription = z.infer<ReturnType<typeof subscription>>

export const SubscriptionEntity = defineEntity<Subscription>()({
  name: 'subscription',
  schema: subscription,
  pk: 'INS#{installation_id}',
  sk: 'WHK#{id}',
})

const attempt = () =>
  z.object({
    n: z.number(),
    at: z.number(),
    duration_ms: z.number(),
    response_code: z.number().nullable(),
    response_body: z.string().nullable(),
    error: z.string().nullable(),
    /** The likely cause and its mend. */
    hint: z.string().nullable(),
  })

export type Attempt = z.infer<ReturnType<typeof attempt>>

const delivery = () =>
  z.object({
    id: z.string(),
    webhook_id: z.string(),
    installation_id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    event_id: z.string(),
    event_type: z.string(),
    status: z.enum(['pending', 'succeeded', 'failed', 'skipped']),
    /** Attempts made. */
    attempt: z.number(),
    /** When it was found to be skipped. */
    skipped_at: z.number().optional(),
    /** Attempts that were made before the present round of the schedule (a redelivery begins a new one). */
    round_start: z.number(),
    generation: z.number(),
    next_attempt_at: z.number().nullable(),
    /** While a worker sends; another one that wakes up meanwhile leaves it alone. */
    leased_until: z.number().optional(),
    /** Workers that began this attempt and never wrote down how it ended. */
    lost_leases: z.number().optional(),
    /** Sent by `POST …/test`: tried once, and never counted as a failure. */
    test: z.boolean().optional(),
    /** The recovery that began the present round, so that no recovery sends a delivery twice. */
    recovery_id: z.string().optional(),
    /** The latest ones. */
    attempts: z.array(attempt()),
    /** When its event was: deliveries sort by it. */
    created_at: z.number(),
    /** By when something must have happened; the sweep wakes a worker otherwise. */
    due_at: z.number().optional(),
  })

export type Delivery = z.infer<ReturnType<typeof delivery>>

export const DeliveryEntity = defineEntity<Delivery>()({
  name: 'delivery',
  schema: delivery,
  pk: 'WHK#{webhook_id}',
  sk: 'WHD#{id}',
  due: true,
  expires: ({ created_at }) => created_at + 30 * 86_400_000,
})
