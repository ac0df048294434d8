import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

/** Events that an entry holds at most. Its item then still costs one unit to write. */
export const EVENTS_PER_ENTRY = 10

const feedEvent = () => ({
  event_id: z.string(),
  type: z.string(),
  created_at: createdAt(),
  /** True if the event stores its number itself. Otherwise a mark does. */
  own: z.boolean(),
})

const feedEntry = () =>
  z.object({
    installation_id: z.string(),
    /** Number of the first event. */
    n: z.number(),
    ...feedEvent(),
    /** Copy of the only event's fields, if it is small and nothing ever changes it. Polling then reads no other record. */
    copy: z.object({ workspace_id: z.string(), data: z.string() }).optional(),
    /** Events with the next numbers, which were appended together with the first. */
    more: z.array(z.object(feedEvent())).optional(),
    /** The feed had no other entries. */
    first: z.literal(true).optional(),
  })

export type FeedEntry = z.infer<ReturnType<typeof feedEntry>>

/** Event of a feed with its number. */
export type NumberedEvent = Omit<FeedEntry, 'installation_id' | 'more' | 'first'>

/** Returns an entry's events in the order of their numbers. */
export const eventsOf = ({ n, event_id, type, created_at, own, copy, more = [] }: FeedEntry): NumberedEvent[] => [
  { n, event_id, type, created_at, own, copy },
  ...more.map((event, i) => ({ n: n + 1 + i, ...event })),
]

/** Returns the number of an entry's last event. */
export const lastNumberOf = ({ n, more = [] }: FeedEntry): number => n + more.length

/**
 * An installation's own feed. Numbers are visible in their order, so reading by number never skips an event
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
    partitions: (entry) => eventsOf(entry).map(({ event_id }) => ['outbox', { id: event_id }]),
  },
  expires: (entry) => Math.max(...eventsOf(entry).map(({ created_at }) => created_at)) + 30 * 86_400_000,
})

const feedMark = () =>
  z.object({ installation_id: z.string(), event_id: z.string(), n: z.number(), created_at: createdAt() })

/**
 * Position of an event in a feed that doesn't store its number itself: an event of another installation or of the whole
 * workspace. Makes appending idempotent and `since` a single read.
 */
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

const feedHead = () =>
  z.object({
    installation_id: z.string(),
    /** At least the number of the last event. Numbers continue from here when all entries have expired. */
    floor: z.number(),
  })

export const FeedHeadEntity = defineEntity({
  name: 'feed-head',
  schema: feedHead,
  pk: 'FEED#{installation_id}',
  sk: 'HEAD',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
})
