import type { QueueName } from '#shared/kernel/queue-names.ts'

export interface QueueDefinition {
  purpose: string
  /** Event types that a bus rule routes here as {@link EventMessage}s, or `*` for all. Absent if code sends the messages. */
  fromBus?: readonly string[]
  /** Visibility timeout in seconds. Must exceed the function's timeout. */
  visibilitySeconds: number
  /** Receives before the message is dead-lettered. */
  maxReceives: number
  /** Most messages per invocation. More than 10 requires a window. */
  batchSize: number
  /** Seconds to gather a batch. If absent, an invocation takes the messages that are available. */
  windowSeconds?: number
  maxConcurrency: number
}

/** Every queue. Infra creates the queue, dead-letter queue, rule and event source from it. */
export const QUEUES: Record<QueueName, QueueDefinition> = {
  fanout: {
    purpose: 'Events to add to feeds and send to webhook subscriptions.',
    fromBus: ['*'],
    visibilitySeconds: 180,
    maxReceives: 8,
    batchSize: 10,
    maxConcurrency: 20,
  },
  dispatch: {
    purpose:
      'Runs to dispatch to their agents, conversations whose next message is to be dispatched, and cards of outside agents to look at.',
    fromBus: ['run.resumed', 'run.input_received', 'a2a.task_notified', 'agent_card.due', 'chat.moved'],
    visibilitySeconds: 240,
    maxReceives: 5,
    batchSize: 5,
    // An agent may take 30 seconds. With a lower limit, a few agents that hang could block all others. Runs that a request waits for
    // hold an execution of that request instead.
    maxConcurrency: 100,
  },
  'approved-tools': {
    purpose: 'Approved tool calls to execute.',
    fromBus: ['approval.decided'],
    visibilitySeconds: 240,
    maxReceives: 5,
    batchSize: 5,
    maxConcurrency: 20,
  },
  'inline-runs': {
    purpose: 'Runs of inline agents to start or resume, sent by the dispatcher.',
    // Longer than the worker’s 15 minutes. The sweeper finds a lost worker long before that.
    visibilitySeconds: 960,
    maxReceives: 5,
    batchSize: 1,
    maxConcurrency: 50,
  },
  statistics: {
    purpose: 'Events for the statistics of apps and workspaces and for app logs.',
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
    // AWS advises six times the function’s timeout plus the longest window.
    visibilitySeconds: 200,
    maxReceives: 8,
    // A batch adds to each counter in one write.
    batchSize: 200,
    windowSeconds: 5,
    maxConcurrency: 10,
  },
  messenger: {
    purpose:
      'Messages to send to messenger threads, accounts to connect or remove, and updates of Business connections.',
    fromBus: ['messenger.send', 'messenger.account', 'messenger.answer', 'messenger.update'],
    visibilitySeconds: 180,
    maxReceives: 8,
    batchSize: 5,
    maxConcurrency: 20,
  },
  removals: {
    purpose:
      'Uninstalled apps whose runs, grants and subscriptions must end, and suspended records and withdrawn access whose runs must end.',
    fromBus: ['installation.removed', 'access.withdrawn', 'platform.suspended'],
    // Longer than its function's timeout, which is set by the removal of workspaces.
    visibilitySeconds: 300,
    maxReceives: 5,
    batchSize: 5,
    maxConcurrency: 5,
  },
  notifications: {
    purpose: 'Notifications to send to people in the messaging app, one message per person.',
    fromBus: ['notification.created', 'run.awaiting_approval'],
    visibilitySeconds: 180,
    maxReceives: 8,
    batchSize: 5,
    // The Bot API takes about 30 messages a second.
    maxConcurrency: 5,
  },
  logos: {
    purpose: 'Logos to fetch from the addresses that developers gave.',
    fromBus: ['logo.wanted'],
    visibilitySeconds: 240,
    maxReceives: 5,
    batchSize: 1,
    maxConcurrency: 5,
  },
  live: {
    purpose: 'Workspaces whose open pages show something that has changed.',
    visibilitySeconds: 120,
    // A page that misses a change makes up for it with the next one, or when its heartbeat is due.
    maxReceives: 4,
    batchSize: 10,
    maxConcurrency: 20,
  },
  overdue: {
    purpose: 'Shards with more due work than a page, each for a worker of its own.',
    visibilitySeconds: 120,
    // The next sweep finds the same shard.
    maxReceives: 3,
    batchSize: 1,
    // Reserved at all times for work that follows outages, and for hours at which many schedules fall due. A stage with more
    // shards raises it.
    maxConcurrency: 4,
  },
  delivery: {
    purpose: 'Webhook deliveries to send, delayed until their next attempt.',
    visibilitySeconds: 120,
    maxReceives: 8,
    batchSize: 5,
    // A receiver may take 10 seconds.
    maxConcurrency: 200,
  },
}
