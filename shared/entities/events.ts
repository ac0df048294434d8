import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

/** An event as it is kept, and as it travels. */
export const outboxSchema = () =>
  z.object({
    id: z.string(),
    type: z.string(),
    created_at: z.number(),
    workspace_id: z.string(),
    /** Whose event it is; absent for events of the whole workspace. */
    installation_id: z.string().optional(),
    app_id: z.string().optional(),
    /** The person whose chat it tells of: shown to nobody else through an agent's page. Agents themselves see it. */
    private_to: z.string().optional(),
    /** JSON text. */
    data: z.string(),
    /** A sample that the app’s developer asked for: its installation gets it, and the platform does nothing else about it. */
    test: z.literal(true).optional(),
    /** By when the fan-out must have handled it. */
    due_at: z.number().optional(),
  })

export type OutboxEvent = z.infer<ReturnType<typeof outboxSchema>>

/**
 * An event, written in the transaction of the change it tells of (transactional outbox). The table's stream carries it
 * to the bus; it stays for 30 days as what deliveries and polling read.
 */
export const OutboxEntity = defineEntity<OutboxEvent>()({
  name: 'outbox',
  schema: outboxSchema,
  pk: 'EVT#{id}',
  sk: 'EVT',
  due: true,
  expires: ({ created_at }) => created_at + 31 * 86_400_000,
})

const feedEntry = () =>
  z.object({
    installation_id: z.string(),
    n: z.number(),
    event_id: z.string(),
    type: z.string(),
    created_at: z.number(),
  })

/** An installation's own numbered feed, without gaps: reading by number never skips (decisions §6). */
export const FeedEntryEntity = defineEntity<z.infer<ReturnType<typeof feedEntry>>>()({
  name: 'feed-entry',
  schema: feedEntry,
  pk: 'FEED#{installation_id}',
  sk: 'N#{n}',
  expires: ({ created_at }) => created_at + 30 * 86_400_000,
})

const feedMark = () =>
  z.object({ installation_id: z.string(), event_id: z.string(), n: z.number(), created_at: z.number() })

/** Where an event stands in a feed: makes appending idempotent and `since` one read. */
export const FeedMarkEntity = defineEntity<z.infer<ReturnType<typeof feedMark>>>()({
  name: 'feed-mark',
  schema: feedMark,
  pk: 'FEED#{installation_id}',
  sk: 'MARK#{event_id}',
  expires: ({ created_at }) => created_at + 30 * 86_400_000,
})

const feedHead = () => z.object({ installation_id: z.string(), n: z.number() })

export const FeedHeadEntity = defineEntity<z.infer<ReturnType<typeof feedHead>>>()({
  name: 'feed-head',
  schema: feedHead,
  pk: 'FEED#{installation_id}',
  sk: 'HEAD',
})

const sweepMark = () =>
  z.object({ name: z.string(), at: z.number(), found: z.number(), failed: z.number(), oldest_ms: z.number() })

/** When the overdue sweep last ran, and what it found. */
export const SweepMarkEntity = defineEntity<z.infer<ReturnType<typeof sweepMark>>>()({
  name: 'sweep-mark',
  schema: sweepMark,
  pk: 'PLATFORM#{name}',
  sk: 'SWEPT',
})
