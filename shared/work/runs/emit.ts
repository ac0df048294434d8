import { emitEvent, emittedBy, OutboxEntity, type OutboxEvent, OVERDUE_GRACE } from '#shared/foundation/outbox/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { derivedId } from '#shared/kernel/ids.ts'
import { ifUnchanged, type Write } from '#shared/table/entity.ts'
import type { Run } from './entity.ts'
import type { RunEventType } from './events.ts'
import { durationOf } from './present.ts'

/**
 * Outbox event for a run's change, with the fields of every `run.*` event (contract/events-and-webhooks.md#event-types).
 * `run` is the state after the change.
 */
export const emitRunEvent = (
  { clock }: Pick<Deps, 'clock'>,
  type: RunEventType,
  run: Run,
  extra: Record<string, unknown> = {},
): Write =>
  emitEvent<RunEventType>(
    clock,
    {
      type,
      workspace_id: run.workspace_id,
      installation_id: run.installation_id,
      app_id: run.app_id,
      private_to: run.private_to,
      trace: run.trace,
      pushes: run.pushes,
      data: {
        run_id: run.id,
        app_id: run.app_id,
        installation_id: run.installation_id,
        status: run.status,
        trigger: run.trigger,
        ...(run.finished_at !== undefined && { duration_ms: durationOf(run) }),
        ...(run.error_code !== undefined && { error_code: run.error_code, error_message: run.error_message ?? '' }),
        ...extra,
      },
    },
    idOf(type, run),
  )

/** Returns the id of an event of which a run has only one, so that its record can be created again. */
const idOf = (type: RunEventType, { id, created_event, finished_at }: Run): string | undefined => {
  if (type === 'run.created') return created_event
  return isRunEnd({ type }) && finished_at !== undefined ? derivedId('event', finished_at, `end of ${id}`) : undefined
}

/** Returns the `run.created` event of a run as the request that started it emitted it. */
export const createdEventOf = (run: Run): OutboxEvent => {
  const queued: Run = { ...run, status: 'queued', finished_at: undefined, error_code: undefined }
  return emittedBy(emitRunEvent({ clock: { now: () => run.created_at } }, 'run.created', queued)) as OutboxEvent
}

const ENDS: ReadonlySet<string> = new Set(['run.succeeded', 'run.failed', 'run.cancelled'] satisfies RunEventType[])

/** Returns true for the event of a run's end. */
export const isRunEnd = ({ type }: Pick<OutboxEvent, 'type'>): boolean => ENDS.has(type)

/** Returns the event of a run's end as whoever ended the run emits it. */
export const endEventOf = (run: Run): OutboxEvent => {
  const clock = { now: () => run.finished_at ?? run.created_at }
  return emittedBy(emitRunEvent({ clock }, `run.${run.status}` as RunEventType, run)) as OutboxEvent
}

/**
 * Creates the record of the event of a run's start or end, unless there is one. A plain write costs half of one in the
 * transaction that creates or ends the run. Until then, the run is due itself.
 * @returns false if the event had a record
 */
export const recordRunEvent = ({ table }: Pick<Deps, 'table'>, event: OutboxEvent): Promise<boolean> =>
  ifUnchanged(table.transact([OutboxEntity.create(event)]))

/** Returns true if a run needn't be due for its `run.created` event: everybody has the event, or it is due itself. */
export const isAnnounced = async ({ table }: Pick<Deps, 'table'>, run: Run): Promise<boolean> => {
  if (!run.is_unannounced) return true
  const known = await table.get(OutboxEntity, createdEventOf(run))
  return known !== undefined && !known.is_held
}

/**
 * Returns the write after which a run needn't be due for its `run.created` event: the event gets its record, or is due
 * itself, unless everybody has it. For changes that end the run's mark `is_unannounced`.
 */
export const emitUnannounced = async (deps: Pick<Deps, 'table' | 'clock'>, run: Run): Promise<Write[]> =>
  run.is_unannounced ? emitHeld(deps, createdEventOf(run)) : []

/** Returns the write after which an event is due itself instead of its run. None if everybody has the event. */
export const emitHeld = async (
  { table, clock }: Pick<Deps, 'table' | 'clock'>,
  event: OutboxEvent,
): Promise<Write[]> => {
  const known = await table.get(OutboxEntity, event)
  if (!known) return [OutboxEntity.create(event)]
  const set = { due_at: clock.now() + OVERDUE_GRACE, is_held: undefined }
  return known.is_held ? [OutboxEntity.update(event, { set }, { where: { is_held: true } })] : []
}

/** Event that advances the chat that the run answers. For transactions that end the run or pause it for approval. */
export const emitChatMoved = (
  { clock }: Pick<Deps, 'clock'>,
  {
    workspace_id,
    conversation_id,
    message_id,
    private_to,
  }: Pick<Run, 'workspace_id' | 'conversation_id' | 'message_id' | 'private_to'>,
): Write[] =>
  conversation_id === undefined || message_id === undefined
    ? []
    : [emitEvent<RunEventType>(clock, { type: 'chat.moved', workspace_id, private_to, data: { conversation_id } })]

/** Trigger of a run that answers a messenger message. */
export const MESSENGER_TRIGGER = 'messenger'

/** Event that drafts the output of a run that answers a messenger message. For the transaction that ends the run. */
export const emitMessengerAnswer = (
  { clock }: Pick<Deps, 'clock'>,
  { id: run_id, trigger, status, workspace_id, installation_id, private_to }: Run,
): Write[] =>
  trigger === MESSENGER_TRIGGER && status === 'succeeded'
    ? [
        emitEvent<RunEventType>(clock, {
          type: 'messenger.answer',
          workspace_id,
          private_to,
          data: { installation_id, run_id },
        }),
      ]
    : []
