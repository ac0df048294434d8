import type { Run } from '../../entities/runs.ts'
import type { EventType } from '../../events/catalogue.ts'
import { tell } from '../../events/outbox.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'
import { durationOf } from './present.ts'

/** The event of a run's change, with the data that every `run.*` has (decisions §6). `run` is as it is afterwards. */
export const tellRun = (
  { clock }: Pick<Deps, 'clock'>,
  type: EventType,
  run: Run,
  extra: Record<string, unknown> = {},
): Write =>
  tell(clock, {
    type,
    workspace_id: run.workspace_id,
    installation_id: run.installation_id,
    app_id: run.app_id,
    private_to: run.private_to,
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
  })

/** Wakes the chat that the run answers, if it answers one: part of every transaction that ends it or has it wait for a person. */
export const tellChat = (
  { clock }: Pick<Deps, 'clock'>,
  { workspace_id, conversation_id, message_id }: Pick<Run, 'workspace_id' | 'conversation_id' | 'message_id'>,
): Write[] =>
  conversation_id === undefined || message_id === undefined
    ? []
    : [tell(clock, { type: 'chat.moved', workspace_id, data: { conversation_id } })]

/** The trigger of a run that answers a messenger message. */
export const MESSENGER_TRIGGER = 'messenger'

/** Has the output of a run that answers a messenger message drafted; for the transaction that ends it. */
export const tellMessenger = (
  { clock }: Pick<Deps, 'clock'>,
  { id: run_id, trigger, status, workspace_id, installation_id }: Run,
): Write[] =>
  trigger === MESSENGER_TRIGGER && status === 'succeeded'
    ? [tell(clock, { type: 'messenger.answer', workspace_id, data: { installation_id, run_id } })]
    : []
