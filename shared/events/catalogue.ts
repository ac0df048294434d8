import * as z from 'zod'

/**
 * Who sees an event, by polling and by webhook alike (decisions §6).
 * `installation`: the one it belongs to. `workspace`: every installation of the workspace with `workspace:read`.
 * `internal`: nobody; it only wakes the platform's own workers.
 */
type Audience = 'installation' | 'workspace' | 'internal'

const run = {
  run_id: z.string(),
  app_id: z.string(),
  installation_id: z.string(),
  status: z.string().meta({ example: 'running' }),
  trigger: z.string(),
}
const finished = { ...run, duration_ms: z.number().int().meta({ example: 1_042 }) }
const approval = { ...run, step_id: z.string(), tool: z.string() }
const task = { task_id: z.string(), status: z.string(), title: z.string(), conversation_id: z.string() }
const installation = {
  installation_id: z.string(),
  app_id: z.string(),
  status: z.string(),
  scopes: z.array(z.string()),
}

interface EventDefinition {
  audience: Audience
  when: string
  data: () => z.ZodType<Record<string, unknown>>
}

/** Every event type, once (specification "Event types", decisions §6). */
export const EVENTS = {
  'run.created': { audience: 'installation', when: 'A run was created.', data: () => z.object(run) },
  'run.awaiting_approval': {
    audience: 'installation',
    when: 'A dangerous tool waits for a person’s approval.',
    data: () => z.object(approval),
  },
  'run.resumed': {
    audience: 'installation',
    when: 'The run went on after a decision; an approved tool has been executed and its result is in the step.',
    data: () => z.object({ ...approval, decision: z.enum(['approved', 'rejected']) }),
  },
  'run.succeeded': { audience: 'installation', when: 'The run finished successfully.', data: () => z.object(finished) },
  'run.failed': {
    audience: 'installation',
    when: 'The run ended with an error.',
    data: () => z.object({ ...finished, error_code: z.string(), error_message: z.string() }),
  },
  'run.cancelled': { audience: 'installation', when: 'The run was cancelled.', data: () => z.object(finished) },
  'notification.created': {
    audience: 'installation',
    when: 'An agent, or the platform for it, notified somebody.',
    data: () =>
      z.object({ notification_id: z.string(), title: z.string(), body: z.string(), app_id: z.string().nullable() }),
  },
  'webhook.disabled': {
    audience: 'installation',
    when: 'A subscription was disabled after 5 failed deliveries in a row.',
    data: () => z.object({ webhook_id: z.string(), url: z.string(), last_error: z.string() }),
  },
  'webhook.test': {
    audience: 'installation',
    when: 'A test delivery was requested.',
    data: () => z.object({ webhook_id: z.string() }),
  },
  'custom.*': {
    audience: 'installation',
    when: 'An agent emitted it with the emit_event tool.',
    data: () => z.record(z.string(), z.unknown()),
  },
  'installation.created': {
    audience: 'workspace',
    when: 'An app was installed into the workspace.',
    data: () => z.object(installation),
  },
  'installation.updated': {
    audience: 'workspace',
    when: 'An installation’s scopes, version or status changed.',
    data: () => z.object(installation),
  },
  'installation.removed': {
    audience: 'workspace',
    when: 'An app was uninstalled from the workspace.',
    data: () => z.object(installation),
  },
  'task.created': { audience: 'installation', when: 'A task was assigned to the agent.', data: () => z.object(task) },
  'task.updated': {
    audience: 'installation',
    when: 'A task of the agent changed: its status, its assignee, its text, or a message in it.',
    data: () =>
      z.object({
        ...task,
        assigned: z.boolean().meta({ description: 'False when the task was taken from the agent.' }),
        percent: z.number().nullable(),
      }),
  },
  'task.result': {
    audience: 'installation',
    when: 'A task that the agent delegated was reported on.',
    data: () =>
      z.object({
        task_id: z.string(),
        status: z.string(),
        text: z.string(),
        output: z.record(z.string(), z.unknown()).nullable(),
      }),
  },
  'message.created': {
    audience: 'installation',
    when: 'A message was written in a conversation of the agent.',
    data: () =>
      z.object({
        message_id: z.string(),
        conversation_id: z.string(),
        text: z.string(),
        author: z.object({
          type: z.enum(['user', 'agent', 'orchestrator', 'contact']),
          id: z.string(),
          name: z.string(),
        }),
      }),
  },
  'approval.decided': {
    audience: 'internal',
    when: 'A person decided an approval; an approved tool is to be executed.',
    data: () =>
      z.object({ run_id: z.string(), installation_id: z.string(), step_id: z.string(), decision: z.string() }),
  },
  'platform.suspended': {
    audience: 'internal',
    when: 'An app, a workspace or an installation was suspended; the runs under way there are to be ended.',
    data: () => z.object({ kind: z.enum(['app', 'workspace', 'installation']), id: z.string() }),
  },
  'messenger.send': {
    audience: 'internal',
    when: 'A message waits to be sent to a messenger chat.',
    data: () => z.object({ workspace_id: z.string(), dialog_id: z.string() }),
  },
  'messenger.account': {
    audience: 'internal',
    when: 'A messenger account’s webhook is to be set or taken off.',
    data: () => z.object({ workspace_id: z.string(), account_id: z.string() }),
  },
  'messenger.answer': {
    audience: 'internal',
    when: 'A run that answers a messenger message succeeded; its output becomes a draft.',
    data: () => z.object({ installation_id: z.string(), run_id: z.string() }),
  },
  'messenger.update': {
    audience: 'internal',
    when: 'The platform’s bot was told something of a person’s Business connection.',
    data: () => z.object({ update: z.record(z.string(), z.unknown()) }),
  },
  'chat.moved': {
    audience: 'internal',
    when: 'A run that answers a chat ended or waits for a person, or a message waits for its turn.',
    data: () => z.object({ conversation_id: z.string() }),
  },
  'delivery.requested': {
    audience: 'internal',
    when: 'Deliveries are to be sent again.',
    data: () =>
      z.object({ installation_id: z.string(), webhook_id: z.string(), delivery_ids: z.array(z.string()).max(100) }),
  },
  'delivery.recovery': {
    audience: 'internal',
    when: 'A subscription’s failed and skipped deliveries are to be sent again, a page at a time.',
    data: () =>
      z.object({
        installation_id: z.string(),
        webhook_id: z.string(),
        recovery_id: z.string(),
        since: z.number(),
        until: z.number(),
        after: z.string().optional(),
        older: z.boolean().optional(),
      }),
  },
} as const satisfies Record<string, EventDefinition>

export type EventType = Exclude<keyof typeof EVENTS, 'custom.*'> | `custom.${string}`

/** The definition of a type, `custom.*` for every custom one. */
export const definitionOf = (type: string): EventDefinition | undefined =>
  type.startsWith('custom.') ? EVENTS['custom.*'] : (EVENTS as Record<string, EventDefinition>)[type]

/** The envelope as receivers and pollers get it (specification "Event"). */
export interface EventEnvelope {
  id: string
  type: string
  created_at: string
  workspace_id: string
  data: Record<string, unknown>
  /** A sample, sent by `POST /api/v1/dev/sandbox/trigger`; absent otherwise. */
  test?: true
}

/** True when a subscription's masks take the type: exact, `run.*`, or `*`. */
export const matches = (masks: readonly string[], type: string): boolean =>
  masks.some((mask) => mask === '*' || mask === type || (mask.endsWith('.*') && type.startsWith(mask.slice(0, -1))))

/** The type names and masks that a subscription may list; custom ones are free after `custom.`. */
export const isMask = (text: string): boolean => {
  if (text === '*' || (text.length <= 120 && /^custom(\.[a-z0-9_-]+)+(\.\*)?$/i.test(text))) return true
  const visible = Object.entries(EVENTS).filter(([, { audience }]) => audience !== 'internal')
  return visible.some(([type]) => type === text || (text.endsWith('.*') && type.startsWith(text.slice(0, -1))))
}
