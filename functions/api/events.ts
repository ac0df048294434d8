import * as z from 'zod'
import { EventSchema, eventMaskListSchema, readFeed } from '#shared/delivery/feed/index.ts'
import { envelopeOf } from '#shared/foundation/outbox/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'

const list = defineEndpoint({
  id: 'api.events.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/events',
  caller: 'integration',
  summary: 'Poll the installation’s events, oldest first',
  description:
    'Returns the events of the last 30 days that the installation can see, in the order in which they reached its ' +
    'feed. Each event type names the scope that reads it: types whose scope you don’t hold, or an admin of the ' +
    'workspace denied, are left out. No other event is ever skipped. While `has_more` is true, continue with `next_cursor`. Once it is false, ' +
    '`next_cursor` is null and you have everything. Poll again later with `since` set to the ID of the last event ' +
    'you received. Without `since`, the list starts at the oldest stored event. With `types`, a page can have fewer ' +
    'events than `limit`, or none, while `has_more` is true.',
  query: () =>
    pageQuery({
      since: z.string().optional().meta({
        description: 'ID of the last event you received. If it is unknown or older than 30 days, the response is 400.',
        example: 'evt_01kae5m1v8w6c3x9q2r7t4y0zn',
      }),
      types: eventMaskListSchema()
        .optional()
        .meta({ description: 'Event types or patterns, separated by commas.', example: 'run.*,custom.*' }),
    }),
  list: {
    read: ({ work, caller, query }, page) => readFeed(work, caller, query, page),
    // The cursor says where to continue.
    unbound: ['since'],
    present: envelopeOf,
  },
  response: EventSchema,
  errors: ['bad_request'],
})

export const endpoints = [list]
