import * as z from 'zod'
import { defineEntity } from '../table/entity.ts'

const listener = () =>
  z.object({
    /** The developer's sandbox workspace: what goes to another workspace finds no listener. */
    workspace_id: z.string(),
    app_id: z.string(),
    developer_id: z.string(),
    /** `lsn_…`, the same over all connections of one listener. */
    id: z.string(),
    /** The request whose stream serves it now. */
    connection: z.string(),
    /** Until when it counts as listening, unless the stream renews it. */
    until: z.number(),
  })

export type Listener = z.infer<ReturnType<typeof listener>>

/** Who listens for an app instead of its endpoints; at most one. A lease: it counts for as long as it is renewed. */
export const ListenerEntity = defineEntity<Listener>()({
  name: 'listener',
  schema: listener,
  pk: 'WS#{workspace_id}',
  sk: 'LISTENER#{app_id}',
  expires: ({ until }) => until + 3_600_000,
})

/** `run.execute`, or the attempt of a webhook delivery. */
export const LISTENED_KINDS = ['run.execute', 'webhook'] as const

const listenedRequest = () =>
  z.object({
    developer_id: z.string(),
    id: z.string(),
    app_id: z.string(),
    workspace_id: z.string(),
    installation_id: z.string(),
    kind: z.enum(LISTENED_KINDS),
    /** What it is about, without secrets: the event's type, the run's or the delivery's id. */
    event: z.string(),
    subject_id: z.string(),
    attempt: z.number().optional(),
    /** `waiting`: no listener got it; `taken`: one did; `over`: nobody waits for the answer any more. */
    state: z.enum(['waiting', 'taken', 'answered', 'over']),
    taken_by: z.string().optional(),
    /** Its number among those that its listener took: only grows. */
    taken_n: z.number().optional(),
    /** Bytes of the answer that are read. */
    max_response_bytes: z.number(),
    deadline_at: z.number(),
    created_at: z.number(),
  })

export type ListenedRequest = z.infer<ReturnType<typeof listenedRequest>>

/** A request that goes to whoever listens, in place of the network. */
export const ListenedRequestEntity = defineEntity<ListenedRequest>()({
  name: 'listened-request',
  schema: listenedRequest,
  pk: 'LISTEN#{developer_id}',
  sk: 'LRQ#{id}',
  expires: ({ deadline_at }) => deadline_at + 3_600_000,
})

const listenedMessage = () =>
  z.object({
    request_id: z.string(),
    part: z.enum(['request', 'answer']),
    /** Sealed: run.execute carries a callback token and the installation's settings. Over some size, its place in the bucket. */
    content: z.union([z.object({ sealed: z.string() }), z.object({ object: z.string() })]),
    deadline_at: z.number(),
  })

export type ListenedMessage = z.infer<ReturnType<typeof listenedMessage>>

/** What such a request, or its answer, says: apart from the record that is looked at again and again. */
export const ListenedMessageEntity = defineEntity<ListenedMessage>()({
  name: 'listened-message',
  schema: listenedMessage,
  pk: 'LRQ#{request_id}',
  sk: 'PART#{part}',
  expires: ({ deadline_at }) => deadline_at + 3_600_000,
})
