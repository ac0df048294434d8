import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { StreamWorker } from '#shared/http/worker.ts'
import { AuditIntakeEntity, recordEntries } from '#shared/staff/audit/index.ts'

/** An item of a stream record, in the wire format. */
type Image = Parameters<typeof unmarshall>[0]

/** Records audit entries: chains each to those before. The only code that adds entries to the audit. */
export const worker: StreamWorker = {
  name: 'audit',
  // An entry that keeps failing for an hour stays in the intake, where the worker audit-anchors finds it.
  source: { kind: 'stream', entity: AuditIntakeEntity.name, inOrder: true, setsAside: false },
  needs: ['table:read', 'table:write', 'audit:record'],
  timeoutSeconds: 30,
  async handle(work, records) {
    const schema = AuditIntakeEntity.schema()
    await recordEntries(
      work,
      records.map(({ dynamodb }) => schema.parse(unmarshall((dynamodb?.NewImage ?? {}) as Image))),
    )
    return []
  },
}
