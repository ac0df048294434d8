import type { ScheduledWorker } from '#shared/http/worker.ts'
import { anchorDays, recordLeftovers } from '#shared/staff/audit/index.ts'

/** Anchors the chains of the audit in the bucket, and records entries that the stream didn't bring. */
export const worker: ScheduledWorker = {
  name: 'audit-anchors',
  source: { kind: 'schedule', everyMinutes: 5 },
  needs: ['table:read', 'table:write', 'audit:record'],
  timeoutSeconds: 120,
  async handle(work) {
    await recordLeftovers(work)
    await anchorDays(work)
  },
}
