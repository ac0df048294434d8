import { emitEvent, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import type { Deps } from '#shared/foundation/work/index.ts'
import { derivedId, siblingId } from '#shared/kernel/ids.ts'
import type { Write } from '#shared/table/entity.ts'
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

/** Returns the id of a run's `run.created` event, which is counted with its end. */
export const createdEventId = (runId: string): string => siblingId('event', runId)

/** Returns the id of the event of a run's end, of which a run has only one. */
export const endEventId = ({ id, finished_at = 0 }: Pick<Run, 'id' | 'finished_at'>): string =>
  derivedId('event', finished_at, `end of ${id}`)

const idOf = (type: RunEventType, run: Run): string | undefined => {
  if (type === 'run.created') return createdEventId(run.id)
  return isRunEnd({ type }) ? endEventId(run) : undefined
}

const ENDS: ReadonlySet<string> = new Set(['run.succeeded', 'run.failed', 'run.cancelled'] satisfies RunEventType[])

/** Returns true for the event of a run's end. */
export const isRunEnd = ({ type }: Pick<OutboxEvent, 'type'>): boolean => ENDS.has(type)

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
