import * as z from 'zod'
import { createdAt } from '#shared/table/created-at.ts'
import { defineEntity } from '#shared/table/entity.ts'

/** No request has this id, so no stream renews the lease. */
export const ENDED = 'ended'

const listener = () =>
  z.object({
    /** The developer's sandbox workspace. Requests for other workspaces never find a listener. */
    workspace_id: z.string(),
    app_id: z.string(),
    developer_id: z.string(),
    /** `lsn_…`, the same across all connections of one listener. */
    id: z.string(),
    /** The request whose stream currently serves the listener. {@link ENDED} after the listener ended itself. */
    connection: z.string(),
    /** The lease ends at this time unless the stream renews it. */
    until: z.number(),
  })

export type Listener = z.infer<ReturnType<typeof listener>>

/** Lease of the developer who receives an app's requests in place of its endpoints; at most one per app. */
export const ListenerEntity = defineEntity({
  name: 'listener',
  schema: listener,
  pk: 'WS#{workspace_id}',
  sk: 'LISTENER#{app_id}',
  personal: 'none',
  retention: { workspace: 'removed', person: 'kept', app: 'kept' },
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
    /** Subject without secrets: the event's type. */
    event: z.string(),
    subject_id: z.string(),
    attempt: z.number().optional(),
    /** `waiting`: not delivered yet; `taken`: delivered to a listener; `over`: the sender stopped waiting. */
    state: z.enum(['waiting', 'taken', 'answered', 'over']),
    taken_by: z.string().optional(),
    /** Sequence number among the requests that its listener took; only increases. */
    taken_n: z.number().optional(),
    /** Maximum number of bytes read from the answer. */
    max_response_bytes: z.number(),
    deadline_at: z.number(),
    created_at: createdAt(),
  })

export type ListenedRequest = z.infer<ReturnType<typeof listenedRequest>>

/** A request that goes to a listener instead of over the network. */
export const ListenedRequestEntity = defineEntity({
  name: 'listened-request',
  schema: listenedRequest,
  pk: 'LISTEN#{developer_id}',
  sk: 'LRQ#{id}',
  personal: 'none',
  retention: { workspace: 'expires', person: 'kept', app: 'expires', days: 1 },
  expires: ({ deadline_at }) => deadline_at + 3_600_000,
})

const listenedMessage = () =>
  z.object({
    request_id: z.string(),
    part: z.enum(['request', 'answer']),
    /**
     * Sealed, because run.execute carries a callback token and the installation's settings. Large messages are kept in
     * the bucket.
     */
    content: z.union([z.object({ sealed: z.string() }), z.object({ object: z.string() })]),
    deadline_at: z.number(),
  })

export type ListenedMessage = z.infer<ReturnType<typeof listenedMessage>>

/** The content of a listened request or its answer, kept apart from the record that is polled. */
export const ListenedMessageEntity = defineEntity({
  name: 'listened-message',
  schema: listenedMessage,
  pk: 'LRQ#{request_id}',
  sk: 'PART#{part}',
  personal: { text: ['content'] },
  retention: { workspace: 'expires', person: 'kept', app: 'expires', days: 1 },
  expires: ({ deadline_at }) => deadline_at + 3_600_000,
})
