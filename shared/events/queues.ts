import * as z from 'zod'
import { outboxSchema } from '../entities/events.ts'
import type { QueueName } from '../kernel/queue-names.ts'

export interface QueueDefinition {
  purpose: string
  /** Event types that a rule on the bus brings here as {@link BusMessage}s; `*` for all. Absent: sent to from code. */
  fromBus?: readonly string[]
  /** Seconds in which a worker has the message to itself; more than its function's timeout. */
  visibilitySeconds: number
  /** Receives before the message goes to the dead-letter queue. */
  maxReceives: number
  /** Messages that one invocation takes at most; more than 10 only with a window. */
  batchSize: number
  /** Seconds for which a batch is gathered; absent: an invocation takes what is there. */
  windowSeconds?: number
  maxConcurrency: number
}

/** Every queue, once: infra makes queue, dead letters, rule and event source from it. */
export const QUEUES: Record<QueueName, QueueDefinition> = {
  fanout: {
    purpose: 'Events on their way into feeds and to webhook subscriptions.',
    fromBus: ['*'],
    visibilitySeconds: 180,
    maxReceives: 8,
    batchSize: 10,
    maxConcurrency: 20,
  },
  dispatch: {
    purpose: 'Runs to be handed to their agent, and chats whose next message is to be.',
    fromBus: ['run.created', 'run.resumed', 'chat.moved'],
    visibilitySeconds: 240,
    maxReceives: 5,
    batchSize: 5,
    // An agent may take 30 seconds: with fewer, some that hang would keep all of them.
    maxConcurrency: 150,
  },
  'approved-tools': {
    purpose: 'Approved tool calls to be executed.',
    fromBus: ['approval.decided'],
    visibilitySeconds: 240,
    maxReceives: 5,
    batchSize: 5,
    maxConcurrency: 20,
  },
  'inline-runs': {
    purpose: 'Runs of inline agents, to begin or to go on with; the dispatcher hands them over.',
    // Longer than the worker’s 15 minutes. A lost worker is found by the sweep, long before.
    visibilitySeconds: 960,
    maxReceives: 5,
    batchSize: 1,
    maxConcurrency: 50,
  },
  statistics: {
    purpose: 'What the statistics of apps and workspaces, and apps’ logs, are made of.',
    fromBus: [
      'run.created',
      'run.succeeded',
      'run.failed',
      'run.cancelled',
      'run.awaiting_approval',
      'run.resumed',
      'approval.decided',
      'task.created',
      'task.updated',
      'installation.created',
      'installation.removed',
    ],
    // Six times the function’s timeout and the longest window, as AWS advises.
    visibilitySeconds: 200,
    maxReceives: 8,
    // What a batch adds to the same counter is one write.
    batchSize: 200,
    windowSeconds: 5,
    maxConcurrency: 10,
  },
  messenger: {
    purpose: 'Messages on their way to messenger chats, accounts to connect or remove, news of Business connections.',
    fromBus: ['messenger.send', 'messenger.account', 'messenger.answer', 'messenger.update'],
    visibilitySeconds: 180,
    maxReceives: 8,
    batchSize: 5,
    maxConcurrency: 20,
  },
  removals: {
    purpose:
      'Uninstalled apps whose runs, grants and subscriptions are to be ended; what was suspended, whose runs are.',
    fromBus: ['installation.removed', 'platform.suspended'],
    visibilitySeconds: 240,
    maxReceives: 5,
    batchSize: 5,
    maxConcurrency: 5,
  },
  notifications: {
    purpose: 'Notifications on their way to people in the messaging app, one message for each person.',
    fromBus: ['notification.created', 'run.awaiting_approval'],
    visibilitySeconds: 180,
    maxReceives: 8,
    batchSize: 5,
    // The Bot API takes about 30 messages a second.
    maxConcurrency: 5,
  },
  delivery: {
    purpose: 'Webhook deliveries to be sent, with the delay of their next attempt.',
    visibilitySeconds: 120,
    maxReceives: 8,
    batchSize: 5,
    // A receiver may take 10 seconds.
    maxConcurrency: 250,
  },
}

/** What EventBridge puts into a queue: the event's detail. */
export const BusMessage = z.object({
  'detail-type': z.string(),
  detail: outboxSchema(),
})

/** Sent to `delivery`: wakes a worker for one delivery. Holds the keys of all that it reads first, in one batch. */
export const DeliveryMessage = z.object({
  delivery_id: z.string(),
  webhook_id: z.string(),
  installation_id: z.string(),
  workspace_id: z.string(),
  app_id: z.string(),
  event_id: z.string(),
  /** The attempt it is for; a message for one that was made is dropped. */
  attempt: z.number().int(),
})

export type DeliveryMessage = z.infer<typeof DeliveryMessage>

/** Sent to `notifications`: one person is to be told of one notification. */
export const PersonMessage = z.object({ notification_id: z.string(), workspace_id: z.string(), user_id: z.string() })

export type PersonMessage = z.infer<typeof PersonMessage>

/** The message that the bus would have brought: by it the sweep wakes a worker whose own was lost. */
export const wakeUp = (
  type: 'run.created' | 'approval.decided',
  run: { id: string; installation_id: string; workspace_id: string; app_id: string },
  extra: { step_id?: string } = {},
): z.infer<typeof BusMessage> => ({
  'detail-type': type,
  detail: {
    id: 'evt_sweep',
    type,
    created_at: 0,
    workspace_id: run.workspace_id,
    installation_id: run.installation_id,
    app_id: run.app_id,
    data: JSON.stringify({ run_id: run.id, installation_id: run.installation_id, ...extra }),
  },
})

/** The message that the bus would have brought: by it a chat goes on. */
export const wakeChat = (chat: { conversation_id: string; workspace_id: string }): z.infer<typeof BusMessage> => ({
  'detail-type': 'chat.moved',
  detail: {
    id: 'evt_sweep',
    type: 'chat.moved',
    created_at: 0,
    workspace_id: chat.workspace_id,
    data: JSON.stringify({ conversation_id: chat.conversation_id }),
  },
})
