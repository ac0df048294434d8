import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'
import { webhookFilter } from './filter.ts'

const subscription = () =>
  z.object({
    id: z.string(),
    installation_id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    description: z.string(),
    /** Allowed values by field of the events' data. */
    filter: webhookFilter().optional(),
    max_per_minute: z.number().optional(),
    status: z.enum(['active', 'disabled']),
    last_error: z.string().nullable(),
    consecutive_failures: z.number(),
    /** Sealed `whsec_…`, newest first. Older ones also sign until their expiry. */
    secrets: z.array(z.object({ value: z.string(), until: z.number().optional() })),
    /** Incremented at every rotation, so that no concurrent rotation is lost. */
    secret_version: z.number(),
    /**
     * Incremented at every disabling. Waiting deliveries of an older generation are skipped without a write to each.
     */
    generation: z.number(),
    created_at: createdAt(),
    disabled_at: z.number().nullable(),
    /** Present while an admin of the workspace has paused its origin; then it is disabled. */
    paused: z
      .object({
        at: z.number(),
        /** Status that it returns to when an admin resumes it. */
        before: z.enum(['active', 'disabled']),
      })
      .optional(),
  })

export type Subscription = z.infer<ReturnType<typeof subscription>>

export const SubscriptionEntity = defineEntity({
  name: 'subscription',
  schema: subscription,
  pk: 'INS#{installation_id}',
  sk: 'WHK#{id}',
  personal: 'none',
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    partitions: ({ id }) => [['delivery', { webhook_id: id }]],
  },
})

const pause = () =>
  z.object({
    workspace_id: z.string(),
    app_id: z.string(),
    /** As {@link originIn} returns it. */
    origin: z.string(),
    /** Subscription that the admin paused, which says what the pause was about after the app was uninstalled. */
    installation_id: z.string(),
    webhook_id: z.string(),
    paused_at: z.number(),
  })

export type Pause = z.infer<ReturnType<typeof pause>>

/**
 * An admin's pause of whatever an app has sent to an origin, until an admin ends it. It is the app's in the workspace, so
 * neither another address at the origin nor another installation evades it.
 */
export const PauseEntity = defineEntity({
  name: 'webhook-pause',
  schema: pause,
  pk: 'WS#{workspace_id}',
  sk: 'HOOKPAUSE#{app_id}#{origin}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const sandboxAddress = () =>
  z.object({ workspace_id: z.string(), url_hash: z.string(), installation_id: z.string(), webhook_id: z.string() })

/**
 * The only subscription of an address in a sandbox, whose hash is that of {@link placeIn}, over all of its apps. Outdated once that subscription is
 * deleted or moved, or its app is uninstalled.
 */
export const SandboxAddressEntity = defineEntity({
  name: 'sandbox-address',
  schema: sandboxAddress,
  pk: 'WS#{workspace_id}',
  sk: 'HOOKURL#{url_hash}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})

const attempt = () =>
  z.object({
    n: z.number(),
    at: z.number(),
    duration_ms: z.number(),
    response_code: z.number().nullable(),
    response_body: z.string().nullable(),
    error: z.string().nullable(),
    /** The likely cause and its fix. */
    hint: z.string().nullable(),
  })

export type Attempt = z.infer<ReturnType<typeof attempt>>

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'skipped'] as const

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

const delivery = () =>
  z.object({
    id: z.string(),
    webhook_id: z.string(),
    installation_id: z.string(),
    workspace_id: z.string(),
    app_id: z.string(),
    event_id: z.string(),
    event_type: z.string(),
    status: z.enum(DELIVERY_STATUSES),
    /** Number of attempts made. */
    attempt: z.number(),
    /** Time at which the delivery was found to be skipped. */
    skipped_at: z.number().optional(),
    /** Attempts made before the current round of the schedule. A redelivery starts a new round. */
    round_start: z.number(),
    generation: z.number(),
    next_attempt_at: z.number().nullable(),
    /** End of the sending worker's lease. Other workers leave the delivery alone until then. */
    leased_until: z.number().optional(),
    /** Attempt whose time was reserved, for a subscription with a pace. */
    paced_attempt: z.number().optional(),
    /** Number of workers that started this attempt and never recorded its outcome. */
    lost_leases: z.number().optional(),
    /** Sent by `POST …/test`: attempted once, and never counted as a failure. */
    test: z.boolean().optional(),
    /** The recovery that started the current round, so that no recovery sends a delivery twice. */
    recovery_id: z.string().optional(),
    /** The latest attempts. */
    attempts: z.array(attempt()),
    /** Time of the delivery's event, by which deliveries sort. */
    created_at: createdAt(),
    /** Time after which the sweeper wakes a worker. */
    due_at: z.number().optional(),
  })

export type Delivery = z.infer<ReturnType<typeof delivery>>

export const DeliveryEntity = defineEntity({
  name: 'delivery',
  schema: delivery,
  pk: 'WHK#{webhook_id}',
  sk: 'WHD#{id}',
  personal: 'none',
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    partitions: ({ event_id }) => [['outbox', { id: event_id }]],
    days: 30,
  },
  due: true,
  expires: ({ created_at }) => created_at + 30 * 86_400_000,
})
