import type { Work } from '#shared/domain/deps.ts'
import { AuditEntity } from '#shared/entities/platform.ts'
import { newId } from '#shared/kernel/ids.ts'
import { member, workspace } from '#test/support/fixtures.ts'
import type { TestPlatform } from '#test/support/platform.ts'

/** A workspace of its own with these people in it, in the order of the roles. */
export const team = async ({ deps }: TestPlatform, ...roles: Parameters<typeof member>[2][]) => {
  const { id: workspaceId } = await workspace(deps)
  const people = []
  for (const role of roles) people.push(await member(deps, workspaceId, role))
  return { workspaceId, people }
}

/** What the audit of a workspace holds, oldest first. */
export const audited = async ({ deps }: TestPlatform, workspaceId: string) => {
  const page = await deps.table.query(AuditEntity, { scope: workspaceId }, { limit: 100, ascending: true })
  return page.items
}

/** A unit of work as a request has it, for calling the domain itself. */
export const workOf = ({ deps }: TestPlatform): Work => ({
  ...deps,
  requestId: 'req_01kae5m1v8w6c3x9q2r7t4y0zn',
  sourceIp: '203.0.113.7',
  id: (kind) => newId(kind, deps.clock.now()),
  commit: (writes) => deps.table.transact(writes),
})
