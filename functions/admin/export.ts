import * as z from 'zod'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { StreamResponse } from '#shared/http/response.ts'
import { DATASETS, type DatasetName, END, exportCsv, INCOMPLETE } from '#shared/insight/exports/index.ts'
import { timeBound } from '#shared/insight/observation/index.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { auditAdmin } from '#shared/staff/audit/index.ts'

const isDataset = (name: string): name is DatasetName => (DATASETS as readonly string[]).includes(name)

const exportDataset = defineEndpoint({
  id: 'admin.export.read',
  confirms: true,
  group: 'admin',
  method: 'GET',
  path: '/admin/export/{dataset}',
  params: { dataset: 'text' },
  caller: 'admin',
  role: 'moderator',
  waits: true,
  summary: 'Export a dataset as CSV',
  description: `\`dataset\` is one of ${DATASETS.map((name) => `\`${name}\``).join(', ')}. The file has records created before the request; those of the last second may be missing. Runs are exported as metadata only. For moderators, \`email\` of developers and \`source_ip\` of the audit are empty. Each export is recorded in the audit (\`export.begun\`).

If the export is cut off, repeat it in smaller parts with \`since\` and \`until\`. Reasons are a failure of the store, ${LIMITS.streamsPerCaller} newer exports by the same admin, the end of the session, or the limit of 290 seconds.`,
  answers: `RFC 4180 CSV in UTF-8, without a byte order mark: a header, then the records, oldest first (\`installations\` by app). A value that a spreadsheet would run as a formula gets an apostrophe in front. NUL characters are removed. Lists are separated by spaces, and times are ISO 8601 in UTC.

The status is sent before the records, so **the last record shows whether the export is complete**: its first cell is \`${END}\`, its second the number of records. \`${INCOMPLETE}\`, the number of records and the request ID, or neither, means that it was cut off.`,
  query: () =>
    z.strictObject({
      since: timeBound('Only records created at or after this time.'),
      until: timeBound('Only records created before this time.'),
    }),
  produces: 'text/csv',
  example: `id,email,name,company,vendor,status,verified,sandbox_workspace_id,created_at\r
"dev_01kae5m1v8w6c3x9q2r7t4y0zn","ann@example.com","Ann","Acme","acme","active",true,"ws_01kae5m1v8w6c3x9q2r7t4y0zn","2026-11-21T10:15:30.123+00:00"\r
"#end",1,,,,,,,\r
`,
  errors: ['not_found', 'rate_limited'],
  handler: async ({ work, caller, params: { dataset }, query }) => {
    if (!isDataset(dataset)) {
      throw fail('not_found', {
        message: 'No dataset has this name.',
        fix: `Export one of ${DATASETS.join(', ')}.`,
      })
    }
    const now = work.clock.now()
    const { since = 0, until = now } = query
    const range = { since, until: Math.min(until, now) }
    await work.commit([
      auditAdmin(
        work,
        caller,
        'export.begun',
        { type: 'export', id: dataset },
        { since: since === 0 ? null : iso(since), until: iso(range.until) },
      ),
    ])
    const { requestId } = work
    const superadmin = caller.admin.role === 'superadmin'
    return new StreamResponse(
      200,
      {
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': `attachment; filename="${dataset}-${iso(now).slice(0, 10)}.csv"`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
      (signal) => exportCsv(work, { dataset, superadmin, requestId, ...range }, signal),
    )
  },
})

export const endpoints = [exportDataset]
