import { emitEvent } from '#shared/foundation/outbox/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Schedule } from './entity.ts'
import type { ScheduleEventType } from './events.ts'

const emit = (
  { clock }: Pick<Work, 'clock'>,
  type: ScheduleEventType,
  { id, workspace_id, installation_id, app_id, name, private_to }: Schedule,
  data: Record<string, unknown>,
): Write =>
  emitEvent<ScheduleEventType>(clock, {
    type,
    workspace_id,
    installation_id,
    app_id,
    private_to,
    data: { schedule_id: id, installation_id, name, ...data },
  })

export const emitPaused = (work: Pick<Work, 'clock'>, schedule: Schedule): Write =>
  emit(work, 'schedule.paused', schedule, {
    reason: schedule.paused_reason ?? '',
    last_error: schedule.last_error ?? null,
  })

export const emitSkipped = (work: Pick<Work, 'clock'>, schedule: Schedule, at: number, reason: string): Write =>
  emit(work, 'schedule.skipped', schedule, { at: iso(at), reason })
