import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'
import {
  listPlatformAudit,
  loadNamesForAdmins,
  PlatformAuditEntrySchema,
  platformAuditFilters,
  presentPlatformEntry,
} from '#shared/insight/audit/index.ts'

const list = defineEndpoint({
  id: 'admin.audit.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/audit',
  caller: 'admin',
  role: 'moderator',
  summary: 'List the platform’s audit entries, newest first',
  description:
    'Contains what admins, developers, people, agents and the platform changed. Entries are kept for 2 years and ' +
    'can’t be changed. Without `since`, `subject` or `workspace`, the list goes back 90 days. `total` is exact up to ' +
    '1,000 entries past the page. `actor` and `action` search only the newest 2,000 entries that match the other ' +
    'filters, and `total` then counts the matches among those. Narrow `since` and `until` to search further back.',
  query: () => offsetQuery(platformAuditFilters()),
  list: 'offset',
  response: PlatformAuditEntrySchema,
  handler: async ({ work, query }) => {
    const { limit, offset, ...filter } = query
    const { items, total } = await listPlatformAudit(work, filter, { limit, offset })
    const names = await loadNamesForAdmins(work, items)
    return { items: items.map((entry) => presentPlatformEntry(entry, names)), total, limit, offset }
  },
})

export const endpoints = [list]
