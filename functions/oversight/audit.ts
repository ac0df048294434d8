import { listPlatformAudit } from '#shared/domain/audit/list-all.ts'
import {
  namesForStaff,
  PlatformAuditEntrySchema,
  platformAuditFilters,
  presentPlatformEntry,
} from '#shared/domain/audit/platform-schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { offsetQuery } from '#shared/http/offset-paging.ts'

const list = defineEndpoint({
  id: 'admin.audit.list',
  group: 'admin',
  method: 'GET',
  path: '/admin/audit',
  caller: 'admin',
  role: 'moderator',
  summary: 'The platform’s audit, newest first',
  description:
    'What staff, developers, people, agents and the platform changed, kept for 2 years and changed by nobody. Without `since`, ' +
    '`subject` or `workspace` it goes back 90 days. `total` is exact up to 1,000 entries behind the page. `actor` and `action` are ' +
    'looked for among the newest 2,000 entries that the other filters leave, and `total` is how many of those they fit: ' +
    'narrow `since` and `until` to look further back.',
  query: () => offsetQuery(platformAuditFilters()),
  list: 'offset',
  response: PlatformAuditEntrySchema,
  handler: async ({ work, query }) => {
    const { limit, offset, ...filter } = query
    const { items, total } = await listPlatformAudit(work, filter, { limit, offset })
    const names = await namesForStaff(work, items)
    return { items: items.map((entry) => presentPlatformEntry(entry, names)), total, limit, offset }
  },
})

export const auditEndpoints = [list]
