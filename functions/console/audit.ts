import { defineEndpoint } from '#shared/http/endpoint.ts'
import { pageQuery } from '#shared/http/paging.ts'
import { AuditEntrySchema, auditFilters, listAudit, presentEntry } from '#shared/insight/audit/index.ts'

const list = defineEndpoint({
  id: 'console.audit.list',
  group: 'console',
  method: 'GET',
  path: '/console/audit',
  caller: 'console',
  role: 'admin',
  summary: 'List the workspace’s audit entries, newest first',
  description:
    'Contains what people, agents and the platform did in the workspace. Entries are kept for 2 years and can’t be ' +
    'changed. A page searches up to 1,000 entries. With a narrow filter it can be short or empty while `has_more` is ' +
    'true; continue with its cursor.',
  query: () => pageQuery(auditFilters()),
  list: {
    read: ({ work, caller, query: { limit, cursor, ...filter } }, page) =>
      listAudit(work, caller.workspace.id, caller.user.id, filter, page),
    present: ({ entry, names }) => presentEntry(entry, names),
  },
  response: AuditEntrySchema,
})

export const endpoints = [list]
