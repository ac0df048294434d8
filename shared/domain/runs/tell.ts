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
