import * as z from 'zod'
import { EVENTS, scopeOf } from '#shared/delivery/catalogue/index.ts'
import { pascal } from './named-schemas.ts'
import { runExecuteOperation } from './run-execute.ts'
import { sampleOf } from './sample.ts'
import type { Json, Schemas } from './schemas.ts'

/** Headers of every delivery (contract/events-and-webhooks.md#delivery-requests). */
const DELIVERY_HEADERS: Readonly<Record<string, [description: string, example: string]>> = {
  'X-SVC-Signature': [
    '`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the secret. One `v1` for each valid secret.',
    't=1795774530,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  ],
  'X-SVC-Event': ['The event’s type.', 'run.succeeded'],
  'X-SVC-Delivery': ['The delivery’s ID, which retries share.', 'whd_01kae5m1v8w6c3x9q2r7t4y0zn'],
  'X-SVC-Attempt': ['Number of the attempt, starting at 1.', '1'],
  'webhook-id': ['Standard Webhooks: the event’s ID.', 'evt_01kae5m1v8w6c3x9q2r7t4y0zn'],
  'webhook-timestamp': ['Standard Webhooks: Unix seconds.', '1795774530'],
  'webhook-signature': [
    'Standard Webhooks: `v1,<base64>`, keyed with the decoded secret.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
}

/** Headers that sign a request, for which either kind of verification is enough. */
const SIGNATURES = ['X-SVC-Signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature']

/** Headers of deliveries, to which every event refers. */
export const WEBHOOK_PARAMETERS: Record<string, Json> = Object.fromEntries(
  Object.entries(DELIVERY_HEADERS).map(([name, [description, example]]) => [
    name,
    { name, in: 'header', required: true, description, schema: { type: 'string', examples: [example] } },
  ]),
)

const header = (name: string): Json => ({ $ref: `#/components/parameters/${name}` })

export const WEBHOOK_RESPONSES: Record<string, Json> = {
  Received: { description: 'The delivery was received. The body is ignored.' },
  NotReceived: {
    description: 'The delivery wasn’t received. The platform retries on its schedule, six attempts in all.',
  },
}

const RECEIVED: Json = {
  '2XX': { $ref: '#/components/responses/Received' },
  default: { $ref: '#/components/responses/NotReceived' },
}

const envelope = (type: string, data: z.ZodType) =>
  z
    .object({
      id: z.string().meta({ description: 'Use it to detect duplicates.', example: 'evt_01kae5m1v8w6c3x9q2r7t4y0zn' }),
      type: type.endsWith('*') ? z.string().meta({ example: type.replace('*', 'order_placed') }) : z.literal(type),
      created_at: z.string().meta({ example: '2026-11-21T10:15:30.123+00:00' }),
      workspace_id: z.string().meta({ example: 'ws_01kae5m1v8w6c3x9q2r7t4y0zn' }),
      data,
      test: z
        .literal(true)
        .optional()
        .meta({ description: 'Present if the app’s developer triggered a sample event.' }),
    })
    .meta({ id: `${pascal(type.replace('custom.*', 'app'))}Event` })

/** Builds an example of an event, without `test`, which only samples have. */
const eventOf = (schema: Json, schemas: Schemas): Json => {
  const { test: _, ...event } = sampleOf(schema, schemas.components) as Json
  return event
}

const accessOf = (type: string): string => {
  const scope = scopeOf(type)
  return scope ? `Requires the scope \`${scope}\`.` : 'Requires no scope: it is the installation’s own event.'
}

/**
 * Describes the requests that the platform sends: `run.execute` to agents, and every event to webhook receivers. Internal
 * events are left out.
 */
export const webhooksOf = (schemas: Schemas): Json => ({
  'run.execute': { post: runExecuteOperation(schemas, SIGNATURES.map(header), WEBHOOK_TAG.name) },
  ...Object.fromEntries(
    Object.entries(EVENTS)
      .filter(([, { audience }]) => audience !== 'internal')
      .map(([type, { when, data }]) => {
        const schema = schemas.of(envelope(type, data()), 'output')
        const post = {
          operationId: `webhook.${type}`,
          tags: [WEBHOOK_TAG.name],
          summary: type,
          description: [when, accessOf(type)].join(' '),
          security: [],
          parameters: Object.keys(DELIVERY_HEADERS).map(header),
          requestBody: {
            required: true,
            content: { 'application/json': { schema, example: eventOf(schema, schemas) } },
          },
          responses: RECEIVED,
        }
        return [type, { post }]
      }),
  ),
})

export const WEBHOOK_TAG = {
  name: 'Webhooks',
  description: 'Requests that the platform sends to your addresses.',
}
