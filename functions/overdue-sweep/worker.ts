import { sweepOverdue } from '#shared/domain/events/sweep.ts'
import type { ScheduledWorker } from '#shared/http/worker.ts'

/** Twice a minute has done what is due and was not done: should one round die, it is still done within two minutes. */
export const worker: ScheduledWorker = {
  name: 'overdue-sweep',
  source: { kind: 'schedule', everyMinutes: 1, againAfterSeconds: 30 },
  needs: [
    'table:read',
    'table:write',
    'objects:read',
    'objects:write',
    'files:read',
    'files:write',
    'bus:put',
    'queue:delivery',
    'queue:dispatch',
    'queue:approved-tools',
    'queue:inline-runs',
    'queue:messenger',
  ],
  timeoutSeconds: 55,
  handle: sweepOverdue,
}
