import * as z from 'zod'
import { eventMaskListSchema } from '#shared/delivery/feed/index.ts'
import {
  ChangeWebhook,
  CreateWebhook,
  changeWebhook,
  createWebhook,
  DELIVERY_STATUSES,
  DeliverySchema,
  deleteWebhook,
  enableWebhook,
  listDeliveries,
  listWebhooks,
  loadWebhook,
  presentDelivery,
  presentWebhook,
  RecoverDeliveries,
  RecoveringWebhookSchema,
  redeliver as redeliverDelivery,
  requestRecovery,
  rotateSecret as rotate,
  WebhookSchema,
  WebhookWithSecretSchema,
} from '#shared/delivery/webhooks/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'

const common = { group: 'api', caller: 'integration', scope: 'webhooks:manage' } as const
const webhookId = { id: 'webhook' } as const

const create = defineEndpoint({
  ...common,
  id: 'api.webhooks.create',
  method: 'POST',
  path: '/api/v1/webhooks',
  summary: 'Subscribe to events',
  description:
    'Deliveries are signed with the secret in this response. The secret is shown only once. An installation can have ' +
    'up to 20 subscriptions. Each event type names the scope that reads it. A type or mask that needs a scope you ' +
    'don’t have is refused, and `*` means all types that you may read.',
  body: CreateWebhook,
  status: 201,
  response: WebhookWithSecretSchema,
  errors: ['insufficient_scope', 'blocked_target', 'webhook_limit_reached'],
  needs: ['keys:data'],
  secret: true,
  handler: ({ work, caller, body }) => createWebhook(work, caller, body),
})

const list = defineEndpoint({
  ...common,
  id: 'api.webhooks.list',
  method: 'GET',
  path: '/api/v1/webhooks',
  summary: 'List the installation’s subscriptions, newest first',
  list: {
    read: ({ work, caller }, page) => listWebhooks(work, caller.installation.id, page),
    present: presentWebhook,
  },
  response: WebhookSchema,
})

const read = defineEndpoint({
  ...common,
  id: 'api.webhooks.read',
  method: 'GET',
  path: '/api/v1/webhooks/{id}',
  params: webhookId,
  summary: 'Get a subscription',
  response: WebhookSchema,
  handler: async ({ work, caller, params }) =>
    presentWebhook(await loadWebhook(work, caller.installation.id, params.id)),
})

const update = defineEndpoint({
  ...common,
  id: 'api.webhooks.update',
  method: 'PATCH',
  path: '/api/v1/webhooks/{id}',
  params: webhookId,
  summary: 'Change, pause or resume a subscription',
  description:
    'Fields that you leave out don’t change. Waiting deliveries go to a new `url`, whose failures are ' +
    'counted from zero. The secret stays the same.',
  body: ChangeWebhook,
  response: WebhookSchema,
  errors: ['insufficient_scope', 'blocked_target', 'conflict'],
  handler: ({ work, caller, params, body }) => changeWebhook(work, caller, params.id, body),
})

const remove = defineEndpoint({
  ...common,
  id: 'api.webhooks.delete',
  method: 'DELETE',
  path: '/api/v1/webhooks/{id}',
  params: webhookId,
  summary: 'Delete a subscription',
  description: 'Deliveries that are still waiting are dropped.',
  status: 204,
  errors: ['conflict'],
  handler: async ({ work, caller, params }) => {
    await deleteWebhook(work, caller.installation.id, params.id)
    return undefined
  },
})

const enable = defineEndpoint({
  ...common,
  id: 'api.webhooks.enable',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/enable',
  params: webhookId,
  summary: 'Enable a disabled subscription',
  description:
    'Doesn’t send the events that were skipped in the meantime. Use `POST /api/v1/webhooks/{id}/recover` for those.',
  response: WebhookSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => enableWebhook(work, caller, params.id),
})

const rotateSecret = defineEndpoint({
  ...common,
  id: 'api.webhooks.rotateSecret',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/rotate-secret',
  params: webhookId,
  summary: 'Replace a subscription’s secret',
  description:
    'The old secret stays valid for 24 hours, during which deliveries carry both signatures. The new secret is shown ' +
    'only once.',
  response: WebhookWithSecretSchema,
  errors: ['conflict'],
  needs: ['keys:data'],
  secret: true,
  handler: ({ work, caller, params }) => rotate(work, caller.installation.id, params.id),
})

const deliveries = defineEndpoint({
  ...common,
  id: 'api.webhooks.listDeliveries',
  method: 'GET',
  path: '/api/v1/webhooks/{id}/deliveries',
  params: webhookId,
  summary: 'List a subscription’s deliveries and their responses, newest first',
  description:
    'Deliveries are kept for 30 days. With `status` or `types`, a page can have fewer deliveries than `limit`, or none, ' +
    'while `has_more` is true.',
  query: () =>
    pageQuery({
      status: z.enum(DELIVERY_STATUSES).optional().meta({ description: 'Only deliveries with this status.' }),
      types: eventMaskListSchema().optional().meta({
        description: 'Only events of these types or patterns, separated by commas.',
        example: 'run.*,custom.*',
      }),
    }),
  list: {
    load: ({ work, caller, params }) => loadWebhook(work, caller.installation.id, params.id),
    read: ({ work, query }, page, webhook) => listDeliveries(work, webhook, page, query),
    present: (delivery, _context, webhook) => presentDelivery(delivery, webhook),
  },
  response: DeliverySchema,
})

const redeliver = defineEndpoint({
  ...common,
  id: 'api.webhooks.redeliver',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver',
  params: { id: 'webhook', delivery: 'delivery' },
  summary: 'Send a delivery again',
  description: 'Sends it immediately and starts a full retry schedule, whatever its status.',
  response: DeliverySchema,
  errors: ['insufficient_scope', 'conflict'],
  handler: ({ work, caller, params }) => redeliverDelivery(work, caller, params.id, params.delivery),
})

const recover = defineEndpoint({
  ...common,
  id: 'api.webhooks.recover',
  method: 'POST',
  path: '/api/v1/webhooks/{id}/recover',
  params: webhookId,
  summary: 'Resend everything that failed or was skipped since a given time',
  description:
    'Sends each delivery once, in the background. Covers deliveries whose event or last attempt was at or after the ' +
    'given time. Test events aren’t sent again. `recovery` says how many deliveries that is.',
  body: RecoverDeliveries,
  response: RecoveringWebhookSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params, body }) =>
    requestRecovery(work, caller.installation.id, params.id, Date.parse(body.since)),
})

export const endpoints = [create, list, read, update, remove, enable, rotateSecret, deliveries, redeliver, recover]
