import { transactAndSend } from '#shared/foundation/queues/index.ts'
import type { Work } from '#shared/foundation/work/work.ts'
import { newId } from '#shared/kernel/ids.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import type { TestPlatform } from '#testkit/platform.ts'

/** Creates a workspace with people of the given roles, in that order. */
export const newTeam = async ({ deps }: TestPlatform, ...roles: Parameters<typeof member>[2][]) => {
  const { id: workspaceId } = await workspace(deps)
  const people = []
  for (const role of roles) people.push(await member(deps, workspaceId, role))
  return { workspaceId, people }
}

/** Lists a workspace's audit entries, oldest first. */
export const listAudit = async ({ deps }: TestPlatform, workspaceId: string) => {
  const page = await deps.table.query(AuditEntity, { scope: workspaceId }, { limit: 100, ascending: true })
  return page.items
}

/** Builds a unit of work as a request has it, for calling the domain directly. */
export const workOf = ({ deps }: TestPlatform): Work => ({
  ...deps,
  requestId: 'req_01kae5m1v8w6c3x9q2r7t4y0zn',
  sourceIp: '203.0.113.7',
  id: (kind) => newId(kind, deps.clock.now()),
  commit: (writes) => transactAndSend(deps, writes),
})
