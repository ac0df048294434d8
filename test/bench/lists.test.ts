import { expect, it } from 'vitest'
import { LISTS, SHORT } from '#bench/lists/subjects.ts'
import { listTables, measureLists } from '#bench/lists.ts'
import { requestFunctions } from '#functions/registry.ts'
import { sampleOf } from '#testkit/sampling.ts'

const lists = Object.values(requestFunctions)
  .flat()
  .filter(({ list }) => list)
  .map(({ id }) => id)

it('every declared list is measured or can’t grow', () => {
  expect([...Object.keys(LISTS), ...Object.keys(SHORT)].sort()).toEqual(lists.sort())
})

/**
 * Their `total` counts up to 1,000 keys behind the page, or up to 1,000 names with the prefix. Cost grows until then.
 */
const COUNTED_AHEAD = [
  'GET /admin/developers, how a name begins',
  'GET /admin/workspaces, how a name begins',
  ...['first', 'middle', 'one workspace', 'one action'].map((page) => `GET /admin/audit, ${page}`),
  ...['first', 'middle', 'one workspace', 'one app'].map((page) => `GET /admin/runs, ${page}`),
]

/** A filter examines up to 1,000 deliveries for a page (shared/delivery/webhooks/read.ts). Cost grows until then. */
const EXAMINED = ['one status', 'a type that is not there'].map(
  (filter) => `GET /api/v1/webhooks/{id}/deliveries, ${filter}`,
)

/** Each partition of a log is read for a whole page. Cost grows until each has that many entries, and no further. */
const SPREAD = ['GET /api/v1/dev/apps/{id}/logs, middle']

it('every page of every list costs the same with more records', async () => {
  // More records than any bounded scan looks at, such as some filters and the number of unread notifications.
  const sizes = [420, 640]
  const among = sampleOf(Object.keys(LISTS), 20)
  const [table] = listTables(await measureLists({ sizes, among }), sizes)
  const more = table?.rows.filter((row) => row.at(-1) !== 'yes').map(([list, page]) => `${list}, ${page}`)
  // Polling looks at 1,000 entries of the feed (shared/delivery/feed/polling.ts).
  const counted = new Set([...COUNTED_AHEAD, ...EXAMINED, ...SPREAD])
  expect(more?.filter((row) => !counted.has(row))).toEqual(
    among.includes('api.events.list') ? ['GET /api/v1/events, a type that is not there'] : [],
  )
  expect(new Set(table?.rows.map(([list]) => list)).size).toBe(among.length)
})

it('a page that costs more counts as a difference', () => {
  const use = (list: string, ...readUnits: number[]) => ({
    list,
    page: 'first',
    uses: readUnits.map((units) => ({ calls: 3, readUnits: units })),
  })
  const [table] = listTables([use('a', 8, 9), use('b', 8, 9.5)], [100, 100_000])
  expect(table?.columns.slice(2)).toEqual([
    'calls at 100',
    'calls at 100,000',
    'read units at 100',
    'read units at 100,000',
    'the same',
  ])
  expect(table?.rows).toEqual([
    ['a', 'first', '3', '3', '8.0', '9.0', 'yes'],
    ['b', 'first', '3', '3', '8.0', '9.5', 'no'],
  ])
})
