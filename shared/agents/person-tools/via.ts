import type { HostGrant, PersonPrincipal } from '#shared/access/hosts/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'

/** Host that a person acts through, as audit entries name it. */
export const viaOf = ({ id, client }: HostGrant) => ({ grant_id: id, client_id: client.id, host: client.host })

/** Adds an entry that names the host to each transaction in which a tool changes something. */
export const auditedThrough = (work: Work, { person, workspace, grant }: PersonPrincipal, tool: string): Work => ({
  ...work,
  commit: (writes, value) => {
    const by = { workspaceId: workspace.id, userId: person.id }
    const entry = () => auditPerson(work, by, 'host.tool_called', { type: 'tool', id: tool }, { via: viaOf(grant) })
    return work.commit(writes.length > 0 ? [...writes, entry()] : writes, value)
  },
})
