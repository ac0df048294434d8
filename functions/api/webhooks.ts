import { createWebhook, deleteWebhook } from '#shared/domain/webhooks/create.ts'
import { enableWebhook } from '#shared/domain/webhooks/enable.ts'
import { presentDelivery, presentWebhook } from '#shared/domain/webhooks/present.ts'
import { listDeliveries, listWebhooks, loadWebhook } from '#shared/domain/webhooks/read.ts'
import { requestRecovery } from '#shared/domain/webhooks/recover.ts'
import { redeliver as redeliverDelivery } from '#shared/domain/webhooks/redeliver.ts'
import { rotateSecret as rotate } from '#shared/domain/webhooks/rotate.ts'
import {
  CreateWebhook,
  DeliverySchema,
  RecoverDeliveries,
  WebhookSchema,
  WebhookWithSecretSchema,
} from '#shared/domain/webhooks/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const common = { group: 'api', caller: 'integration', scope: 'webhooks:manage' } as const
const webhookId = { id: 'webhook' } as const

export const create = defineEndpoint({
  ...common,
  id: 'api.webhooks.create',
  method: 'POST',
  path: '/api/v1/webhooks',
  summary: 'Subscribe to events',
  description:
    'Deliveries are signed with the secret in this answer, which is shown this once. An installation has at most 20 subscriptions.',
  body: CreateWebhook,
  status: 201,
  response: WebhookWithSecretSchema,
  errors: ['blocked_target', 'webhook_limit_reached'],
  needs: ['keys:data'],
  secret: true,
  handler: ({ work, caller, body }) => createWebhook(work, caller.installation, body),
})

export const list = defineEndpoint({
  ...common,
  id: 'api.webhooks.list',
  method: 'GET',
  path: '/api/v1/webhooks',
  summary: 'List the installation’s subscriptions, newest first',
  query: () => pageQuery({}),
  list: 'page',
  response: WebhookSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['api.webhooks.list'],
      query,
      (options) => listWebhooks(work, caller.installation.id, options),
      presentWebhook,
    ),
})

export const remove = defineEndpoint({
  ...common,
  id: 'api.webhooks.delete',
  method: 'DELETE',
  path: '/api/v1/webhooks/{id}',
  params: webhookId,
  summary: 'Delete a subscription',
  description: 'What still waits to be delivered to it is dropped.',
  status: 204,
  handler: async ({ work, caller, params }) => {
    await deleteWebhook(work, caller.installation.id, params.id)
    return undefined
  },
})

export const enable = defineEndpoint({
  ...common,
  id: 'api.webhooks.enable',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/enable',
  params: webhookId,
  summary: 'Enable a subscription that was disabled automatically',
  description: 'What was skipped meanwhile is not sent by this: recover it.',
  response: WebhookSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => enableWebhook(work, caller.installation.id, params.id),
})

export const rotateSecret = defineEndpoint({
  ...common,
  id: 'api.webhooks.rotateSecret',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/rotate-secret',
  params: webhookId,
  summary: 'Replace a subscription’s secret',
  description: 'The old secret stays valid for 24 hours: both signatures go out. The new one is shown this once.',
  response: WebhookWithSecretSchema,
  errors: ['conflict'],
  needs: ['keys:data'],
  secret: true,
  handler: ({ work, caller, params }) => rotate(work, caller.installation.id, params.id),
})

export const deliveries = defineEndpoint({
  ...common,
  id: 'api.webhooks.listDeliveries',
  method: 'GET',
  path: '/api/v1/webhooks/{id}/deliveries',
  params: webhookId,
  summary: 'List what was sent to a subscription and what answer came, newest first',
  description: 'Kept for 30 days.',
  query: () => pageQuery({}),
  list: 'page',
  response: DeliverySchema,
  handler: async ({ work, caller, params, query }) => {
    const webhook = await loadWebhook(work, caller.installation.id, params.id)
    return paged(
      work,
      caller,
      ['api.webhooks.listDeliveries', webhook.id],
      query,
      (options) => listDeliveries(work, webhook, options),
      (delivery) => presentDelivery(delivery, webhook),
    )
  },
})

export const redeliver = defineEndpoint({
  ...common,
  id: 'api.webhooks.redeliver',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver',
  params: { id: 'webhook', delivery: 'delivery' },
  summary: 'Send a delivery again',
  description: 'At once, and then by the whole retry schedule, whatever became of it before.',
  response: DeliverySchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => redeliverDelivery(work, caller.installation.id, params.id, params.delivery),
})

export const recover = defineEndpoint({
  ...common,
  id: 'api.webhooks.recover',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/recover',
  params: webhookId,
  summary: 'Send everything again that failed or was skipped since a time',
  description:
    'Each delivery once, in the background. It takes those whose event, or whose last attempt, was at that time or later. A test is not sent again.',
  body: RecoverDeliveries,
  response: WebhookSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) =>
    requestRecovery(work, caller.installation.id, params.id, Date.parse(body.since)),
})
