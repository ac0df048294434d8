import { type IdKind, newId } from '#shared/kernel/ids.ts'
import type { EVENTS } from '../catalogue/catalogue.ts'

/** The subject of a sample besides its app. Each id is new and belongs to no existing record. */
interface Subject {
  app_id: string
  installation_id: string
  scopes: readonly string[]
  id(kind: IdKind): string
}

const run = ({ app_id, installation_id, id }: Subject, status: string) => ({
  run_id: id('run'),
  app_id,
  installation_id,
  status,
  trigger: 'api',
})

const approval = (about: Subject, status: string) => ({
  ...run(about, status),
  step_id: about.id('step'),
  tool: 'http_fetch',
})

const task = ({ id }: Subject, status: string) => ({
  task_id: id('task'),
  status,
  title: 'Count the stock of warehouse 2',
  conversation_id: id('conversation'),
})

const installation = ({ installation_id, app_id, scopes }: Subject, status: string) => ({
  installation_id,
  app_id,
  status,
  scopes: [...scopes],
})

type Internal = {
  [T in keyof typeof EVENTS]: (typeof EVENTS)[T]['audience'] extends 'internal' ? T : never
}[keyof typeof EVENTS]

/** An event type with a sample: every type that receivers can get. */
export type SampledType = Exclude<keyof typeof EVENTS, Internal>

/** Realistic sample data for each event type. */
const SAMPLES: Record<SampledType, (about: Subject) => Record<string, unknown>> = {
  'run.created': (about) => run(about, 'queued'),
  'run.awaiting_approval': (about) => approval(about, 'awaiting_approval'),
  'run.resumed': (about) => ({ ...approval(about, 'running'), decision: 'approved' }),
  'run.input_required': (about) => ({ ...run(about, 'running'), step_id: about.id('step') }),
  'run.input_received': (about) => ({ ...run(about, 'running'), step_id: about.id('step') }),
  'run.succeeded': (about) => ({ ...run(about, 'succeeded'), duration_ms: 1_840 }),
  'run.failed': (about) => ({
    ...run(about, 'failed'),
    duration_ms: 30_012,
    error_code: 'agent_unreachable',
    error_message: 'The request was sent, but no response arrived in time.',
  }),
  'run.cancelled': (about) => ({ ...run(about, 'cancelled'), duration_ms: 912 }),
  'schedule.paused': ({ id, installation_id }) => ({
    schedule_id: id('schedule'),
    installation_id,
    name: 'Weekly summary',
    reason: 'failures',
    last_error: 'The agent did not respond.',
  }),
  'schedule.skipped': ({ id, installation_id }) => ({
    schedule_id: id('schedule'),
    installation_id,
    name: 'Weekly summary',
    at: '2026-11-23T08:00:00.000+00:00',
    reason: 'overlap',
  }),
  'notification.created': ({ id, app_id }) => ({
    notification_id: id('notification'),
    title: 'Stock is low',
    body: 'Warehouse 2 has 3 boxes left.',
    app_id,
  }),
  'webhook.disabled': ({ id }) => ({
    webhook_id: id('webhook'),
    url: 'https://hooks.example.com/in',
    last_error: 'The receiver answered HTTP 500.',
  }),
  'webhook.test': ({ id }) => ({ webhook_id: id('webhook') }),
  'custom.*': ({ id }) => ({ order_id: 'ord_1001', total: 49.9, run_id: id('run') }),
  'installation.created': (about) => installation(about, 'active'),
  'installation.updated': (about) => installation(about, 'active'),
  'installation.removed': (about) => installation(about, 'revoked'),
  'task.created': (about) => task(about, 'open'),
  'task.updated': (about) => ({ ...task(about, 'in_progress'), assigned: true, percent: 40 }),
  'task.result': ({ id }) => ({
    task_id: id('task'),
    status: 'done',
    text: 'There are 412 boxes.',
    output: { boxes: 412 },
  }),
  'message.created': ({ id }) => ({
    message_id: id('message'),
    conversation_id: id('conversation'),
    text: 'How many boxes are left?',
    author: { type: 'user', id: id('user'), name: 'Grace' },
  }),
}

/** Types for which a sample can be requested. `custom.*` covers every custom type. */
export const SAMPLED_TYPES = Object.keys(SAMPLES) as SampledType[]

/** Returns the sample's data, or undefined for a type that no receiver gets. */
export const sampleData = (
  type: string,
  about: Omit<Subject, 'id'> & { now: number },
): Record<string, unknown> | undefined => {
  const known = SAMPLED_TYPES.find((one) => one === (type.startsWith('custom.') ? 'custom.*' : type))
  return known && SAMPLES[known]({ ...about, id: (kind) => newId(kind, about.now) })
}
