import { removeWhatIsDue } from '#shared/domain/removal/due.ts'
import type { ScheduledWorker } from '#shared/http/worker.ts'

/** Removes workspaces whose grace is over, and what people left who deleted their account. */
export const worker: ScheduledWorker = {
  name: 'workspace-removal',
  source: { kind: 'schedule', everyMinutes: 5 },
  needs: ['table:read', 'table:write', 'objects:read', 'objects:write', 'files:write'],
  timeoutSeconds: 290,
  handle: (work) => removeWhatIsDue(work),
}
