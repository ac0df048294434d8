import * as z from 'zod'
import { idField, time } from '#shared/foundation/schemas/index.ts'
import { eventMaskSchema } from '../feed/schemas.ts'
import { DELIVERY_STATUSES } from './entity.ts'
import { webhookFilter } from './filter.ts'

/**
 * A subscription as the API shows it (contract/events-and-webhooks.md#subscriptions). Only its creation shows the
 * secret.
 */
export const WebhookSchema = () => z.object(webhook()).meta({ id: 'Webhook' })

/** A subscription with its secret, shown only once. */
export const WebhookWithSecretSchema = () =>
  z
    .object({
      ...webhook(),
      secret: z.string().meta({
        description: 'Store the secret now. It is not shown again.',
        example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
      }),
    })
    .meta({ id: 'WebhookWithSecret' })

const webhook = () => ({
  id: idField('whk'),
  url: z.string().meta({ format: 'uri', example: 'https://example.com/hooks' }),
  events: z.array(z.string()).meta({ example: ['run.*', 'webhook.disabled'] }),
  description: z.string(),
  filter: webhookFilter().nullable(),
  max_per_minute: z.number().int().nullable(),
  status: z.enum(['active', 'disabled']),
  last_error: z
    .string()
    .nullable()
    .meta({ description: 'Why it was disabled automatically, or that an admin paused it.' }),
  consecutive_failures: z
    .number()
    .int()
    .meta({ description: 'Deliveries that failed in a row; 5 disable the subscription.' }),
  created_at: time(),
  disabled_at: time().nullable(),
})

export type WebhookView = z.infer<ReturnType<typeof WebhookSchema>>

const attempt = () =>
  z.object({
    n: z.number().int().meta({ description: 'Attempt number, as in X-SVC-Attempt.' }),
    at: time(),
    duration_ms: z.number().int(),
    response_code: z.number().int().nullable(),
    response_body: z
      .string()
      .nullable()
      .meta({ description: 'The first 1 KiB; null if there was no response or it broke off.' }),
    error: z.string().nullable(),
    hint: z.string().nullable().meta({ description: 'The likely cause of the error and how to fix it.' }),
  })

/** A delivery with its history (contract/events-and-webhooks.md#deliveries). */
export const DeliverySchema = () =>
  z
    .object({
      id: idField('whd'),
      event_id: idField('evt'),
      event_type: z.string(),
      status: z.enum(DELIVERY_STATUSES).meta({
        description: '`skipped`: pending when the subscription was disabled; can be recovered.',
      }),
      attempt: z.number().int().meta({ description: 'Number of attempts made.' }),
      next_attempt_at: time().nullable(),
      created_at: time(),
      attempts: z.array(attempt()).meta({ description: 'The latest 20, oldest first.' }),
    })
    .meta({ id: 'WebhookDelivery' })

export type DeliveryView = z.infer<ReturnType<typeof DeliverySchema>>

export const TestResultSchema = () =>
  z
    .object({
      delivered: z.boolean(),
      response_code: z.number().int().nullable(),
      error: z.string().nullable(),
      hint: z.string().optional().meta({ description: 'Only on failure: the likely cause and how to fix it.' }),
    })
    .meta({ id: 'WebhookTestResult' })

export type TestResult = z.infer<ReturnType<typeof TestResultSchema>>

export const CreateWebhook = () =>
  z.strictObject({
    url: z
      .string()
      .max(2_048)
      .refine((text) => URL.canParse(text), 'must be a full address, such as https://example.com/hooks')
      .meta({ format: 'uri', description: 'A public https address.', example: 'https://example.com/hooks' }),
    events: z
      .array(eventMaskSchema())
      .min(1)
      .max(50)
      .meta({
        description: 'Event types or masks such as `run.*`. `*` means all types that you may read.',
        example: ['run.*'],
      }),
    description: z.string().max(500).default(''),
    filter: webhookFilter().nullish(),
    max_per_minute: z.int().min(1).max(6_000).nullish().meta({
      description: 'Attempts a minute, evenly spaced. Further ones wait, up to a day. Null for no limit.',
      example: 60,
    }),
  })

export type CreateWebhook = z.infer<ReturnType<typeof CreateWebhook>>

export const ChangeWebhook = () =>
  CreateWebhook()
    .extend({
      description: z.string().max(500),
      status: z.enum(['active', 'disabled']).meta({
        description:
          '`disabled` pauses the subscription: its events are skipped, and can be recovered. `active` resumes it.',
      }),
    })
    .partial()

export type ChangeWebhook = z.infer<ReturnType<typeof ChangeWebhook>>

/** A subscription whose recovery has begun. */
export const RecoveringWebhookSchema = () =>
  z
    .object({
      ...webhook(),
      recovery: z.object({
        deliveries: z.number().int().meta({ description: 'Deliveries that will be sent again, counted up to 1,000.' }),
        is_complete: z.boolean().meta({ description: 'False if there are more than were counted.' }),
      }),
    })
    .meta({ id: 'RecoveringWebhook' })

export type RecoveringWebhookView = z.infer<ReturnType<typeof RecoveringWebhookSchema>>

export const RecoverDeliveries = () =>
  z.strictObject({
    since: z.iso
      .datetime({ offset: true })
      .meta({ description: 'ISO 8601 with an offset.', example: '2026-11-21T10:15:30.123+00:00' }),
  })
