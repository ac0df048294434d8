import * as z from 'zod'
import { defineEntity } from '#shared/table/entity.ts'

const feedEntry = () =>
  z.object({
    installation_id: z.string(),
    n: z.number(),
    event_id: z.string(),
    type: z.string(),
    created_at: z.number(),
  })

/**
 * An installation's own feed, numbered without gaps. Reading by number never skips an event
 * (contract/events-and-webhooks.md#polling).
 */
export const FeedEntryEntity = defineEntity({
  name: 'feed-entry',
  schema: feedEntry,
  pk: 'FEED#{installation_id}',
  sk: 'N#{n}',
  personal: 'none',
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    partitions: ({ event_id }) => [['outbox', { id: event_id }]],
  },
  expires: ({ created_at }) => created_at + 30 * 86_400_000,
})

const feedMark = () =>
  z.object({ installation_id: z.string(), event_id: z.string(), n: z.number(), created_at: z.number() })

/** Position of an event in a feed. Makes appending idempotent and `since` a single read. */
export const FeedMarkEntity = defineEntity({
  name: 'feed-mark',
  schema: feedMark,
  pk: 'FEED#{installation_id}',
  sk: 'MARK#{event_id}',
  personal: 'none',
  retention: {
    workspace: 'removed',
    person: 'kept',
    app: 'kept',
    partitions: ({ event_id }) => [['outbox', { id: event_id }]],
  },
  expires: ({ created_at }) => created_at + 30 * 86_400_000,
})

const feedHead = () => z.object({ installation_id: z.string(), n: z.number() })

export const FeedHeadEntity = defineEntity({
  name: 'feed-head',
  schema: feedHead,
  pk: 'FEED#{installation_id}',
  sk: 'HEAD',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})
