import type { ScheduledWorker } from '#shared/http/worker.ts'
import { runRemovalRound } from '#shared/lifecycle/removal/index.ts'

/** Removes workspaces whose grace period is over, and the data of people who deleted their accounts. */
export const worker: ScheduledWorker = {
  name: 'workspace-removal',
  source: { kind: 'schedule', everyMinutes: 5 },
  needs: ['table:read', 'table:write', 'objects:read', 'objects:write', 'files:write', 'keys:destroy'],
  timeoutSeconds: 290,
  handle: (work) => runRemovalRound(work),
}
