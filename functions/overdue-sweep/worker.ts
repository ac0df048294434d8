import { sweepOverdue } from '#shared/domain/events/sweep.ts'
import type { ScheduledWorker } from '#shared/http/worker.ts'

/** Once a minute has done what is due and was not done. */
export const worker: ScheduledWorker = {
  name: 'overdue-sweep',
  source: { kind: 'schedule', everyMinutes: 1 },
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
