import {
  ConnectedDeliverySchema,
  ConnectedWebhookSchema,
  listConnectedWebhooks,
  listDeliveries,
  loadConnectedWebhook,
  pauseWebhook,
  presentConnected,
  presentConnectedDelivery,
  resumeWebhook,
} from '#shared/delivery/webhooks/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const common = { group: 'console', caller: 'console', role: 'admin' } as const
const one = { id: 'installation', webhook: 'webhook' } as const
const named = ({ id, webhook }: { id: string; webhook: string }) => ({ installationId: id, id: webhook })

const list = defineEndpoint({
  ...common,
  id: 'console.connectedWebhooks.list',
  method: 'GET',
  path: '/console/connected-webhooks',
  summary: 'List the webhooks of installed apps',
  description:
    'Available to admins. Lists where apps have events of this workspace sent. Addresses are shown without path and ' +
    'query, and secrets aren’t shown. A page can have fewer items than its limit.',
  list: {
    read: ({ work, caller }, page) => listConnectedWebhooks(work, caller.workspace.id, page),
    present: presentConnected,
  },
  response: ConnectedWebhookSchema,
})

const deliveries = defineEndpoint({
  ...common,
  id: 'console.connectedWebhooks.listDeliveries',
  method: 'GET',
  path: '/console/installations/{id}/webhooks/{webhook}/deliveries',
  params: one,
  summary: 'List a webhook’s deliveries of the last 30 days, newest first',
  description: 'Shows types, times and status codes. What was sent and what the receiver answered isn’t shown.',
  list: {
    load: ({ work, caller, params }) => loadConnectedWebhook(work, caller.workspace.id, params.id, params.webhook),
    read: ({ work }, page, { webhook }) => listDeliveries(work, webhook, page),
    present: (delivery, _context, connected) => presentConnectedDelivery(delivery, connected),
  },
  response: ConnectedDeliverySchema,
})

const pause = defineEndpoint({
  ...common,
  id: 'console.connectedWebhooks.pause',
  method: 'POST',
  path: '/console/installations/{id}/webhooks/{webhook}/pause',
  params: one,
  summary: 'Pause a webhook',
  description:
    'Also pauses the app’s other webhooks at the same origin. Nothing more is sent to them, and their events are ' +
    'skipped. The app can’t enable, move or delete them, or make another one there. The app can recover what was ' +
    'skipped after an admin resumes them.',
  response: ConnectedWebhookSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => pauseWebhook(work, caller.member, named(params)),
})

const resume = defineEndpoint({
  ...common,
  id: 'console.connectedWebhooks.resume',
  method: 'POST',
  path: '/console/installations/{id}/webhooks/{webhook}/resume',
  params: one,
  summary: 'Resume a webhook that an admin paused',
  description:
    'Also resumes the app’s other webhooks at the same origin. They are active again, except those that were disabled ' +
    'before they were paused.',
  response: ConnectedWebhookSchema,
  errors: ['conflict'],
  handler: ({ work, caller, params }) => resumeWebhook(work, caller.member, named(params)),
})

export const endpoints = [list, deliveries, pause, resume]
