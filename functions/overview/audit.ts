import { listAudit } from '#shared/domain/audit/list.ts'
import { AuditEntrySchema, auditFilters, presentEntry } from '#shared/domain/audit/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const list = defineEndpoint({
  id: 'console.audit.list',
  group: 'console',
  method: 'GET',
  path: '/console/audit',
  caller: 'console',
  role: 'admin',
  summary: 'The workspace’s audit, newest first',
  description:
    'What people, agents and the platform did in it, kept for 2 years and changed by nobody. A page looks through at most ' +
    '1,000 entries: with a filter that few pass it may be short, or empty, with `has_more` true; go on from its cursor.',
  query: () => pageQuery(auditFilters()),
  list: 'page',
  response: AuditEntrySchema,
  handler: ({ work, caller, query }) => {
    const { limit, cursor, ...filter } = query
    const { action, actor, subject, since, until } = filter
    return paged(
      work,
      caller,
      ['console.audit.list', action ?? null, actor ?? null, subject ?? null, since ?? null, until ?? null],
      { limit, cursor },
      (options) => listAudit(work, caller.workspace.id, filter, options),
      ({ entry, names }) => presentEntry(entry, names),
    )
  },
})

export const auditEndpoints = [list]
