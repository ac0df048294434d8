import * as z from 'zod'
import { readFeed } from '#shared/domain/events/polling.ts'
import { EventSchema, maskList } from '#shared/domain/events/schemas.ts'
import { envelope } from '#shared/events/outbox.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

export const list = defineEndpoint({
  id: 'api.events.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/events',
  caller: 'integration',
  summary: 'Poll the installation’s events, oldest first',
  description:
    'The events of the last 30 days that the installation may see, in the order in which they reached its feed; none is ever skipped. ' +
    'While `has_more` is true, go on with `next_cursor`. When it is false, you have everything: `next_cursor` is null; poll again later ' +
    'with `since` set to the id of the last event that you received. Without `since` the poll begins with the oldest event that is kept. ' +
    'With `types`, a page may have fewer events than `limit`, even none, while `has_more` is true.',
  query: () =>
    pageQuery({
      since: z.string().optional().meta({
        description: 'Id of the last event that you received; unknown, or older than 30 days, it is 400.',
        example: 'evt_01kae5m1v8w6c3x9q2r7t4y0zn',
      }),
      types: maskList().optional().meta({ description: 'Masks separated by commas.', example: 'run.*,custom.*' }),
    }),
  list: 'page',
  response: EventSchema,
  errors: ['bad_request'],
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      // Not bound to `since`: the cursor says where to go on.
      ['api.events.list', query.types ?? null],
      query,
      (options) => readFeed(work, caller.installation.id, { ...query, viewer: caller.viewer }, options),
      envelope,
    ),
})
