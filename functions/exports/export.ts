import * as z from 'zod'
import { auditStaff } from '#shared/domain/audit/write.ts'
import { DATASETS, type DatasetName } from '#shared/domain/exports/datasets.ts'
import { END, exportCsv, INCOMPLETE } from '#shared/domain/exports/export.ts'
import { moment } from '#shared/domain/observation/runs-schema.ts'
import { StreamAnswer } from '#shared/http/answer.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { iso } from '#shared/kernel/clock.ts'
import { fail } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'

const isDataset = (name: string): name is DatasetName => (DATASETS as readonly string[]).includes(name)

export const exportDataset = defineEndpoint({
  id: 'admin.export.read',
  group: 'admin',
  method: 'GET',
  path: '/admin/export/{dataset}',
  params: { dataset: 'text' },
  caller: 'admin',
  role: 'moderator',
  waits: true,
  summary: 'Export a dataset as CSV',
  description: `\`dataset\` is ${DATASETS.map((name) => `\`${name}\``).join(', ')}. RFC 4180 in UTF-8 (without a byte order mark): a header, then the oldest records first; \`installations\` app by app. Texts stand in quotation marks, and one that a spreadsheet would run as a formula (it begins with \`=\`, \`+\`, \`-\` or \`@\`, blanks before them or not, or with a tab or a line break) has an apostrophe before it; NUL characters are left out. Lists such as scopes are separated by blanks, times are ISO 8601 in UTC.

The status goes out before the records, so **the last record tells whether the export is whole**: its first cell is \`${END}\` and its second the number of records. Where the first cell is \`${INCOMPLETE}\` (then follow the number of records and the request’s id), or the last record is neither, the export was cut: the store failed, ${LIMITS.streamsPerCaller} newer exports of the same admin began, the admin was signed out, or the 290 seconds of a request were over. Ask again, by parts of the time with \`since\` and \`until\`.

It holds what was made before the request; what was made in the second before it may be missing. Runs are metadata only. \`email\` of developers and \`source_ip\` of the audit are empty for moderators. Each export is in the audit (\`export.begun\`).`,
  query: () =>
    z.strictObject({
      since: moment('Records that were made then or later.'),
      until: moment('Records that were made before.'),
    }),
  produces: 'text/csv',
  example: `id,email,name,company,vendor,status,verified,sandbox_workspace_id,created_at\r
"dev_01kae5m1v8w6c3x9q2r7t4y0zn","ann@example.com","Ann","Acme","acme","active",true,"ws_01kae5m1v8w6c3x9q2r7t4y0zn","2026-11-21T10:15:30.123+00:00"\r
"#end",1,,,,,,,\r
`,
  errors: ['not_found', 'rate_limited'],
  handler: async ({ work, caller, params: { dataset }, query }) => {
    if (!isDataset(dataset)) {
      throw fail('not_found', { message: 'There is no such dataset.', fix: `Export one of ${DATASETS.join(', ')}.` })
    }
    const now = work.clock.now()
    const { since = 0, until = now } = query
    const range = { since, until: Math.min(until, now) }
    await work.commit([
      auditStaff(
        work,
        caller,
        'export.begun',
        { type: 'export', id: dataset },
        { since: since === 0 ? null : iso(since), until: iso(range.until) },
      ),
    ])
    const { requestId } = work
    const superadmin = caller.admin.role === 'superadmin'
    return new StreamAnswer(
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
