import { requestFunctions } from '#functions/registry.ts'
import type { Write } from '#shared/table/entity.ts'
import type { Answer } from '#testkit/platform.ts'
import type { Consumption } from './endpoints/meter.ts'
import { type Stage, startStage } from './endpoints/stage.ts'
import { putAll } from './lists/fill.ts'
import { recordsAt } from './lists/records.ts'
import { LISTS, type ListSubject } from './lists/subjects.ts'
import { createWorld, type World } from './lists/world.ts'
import { fixed, type Table } from './report/table.ts'

/** Number of records on a measured page. */
const PAGE = 20
const LONGEST_PAGE = 100
/** Pause between requests, so that no rate limit applies. */
const STEP_MS = 200
const REST_MS = 5_000

/** Measurements of one page of one list, at each number of records. */
export interface ListUse {
  list: string
  page: string
  uses: { calls: number; readUnits: number }[]
}

export interface ListOptions {
  /** Records of each kind, ascending. */
  sizes?: readonly number[]
  /** Measures only lists whose endpoint contains this. */
  only?: string
  /** Measures only the lists of these endpoints, by id. */
  among?: readonly string[]
}

/** Fills a workspace with records of every kind, and measures pages of every list at each of the sizes. */
export const measureLists = async ({
  sizes = [100, 10_000],
  only = '',
  among,
}: ListOptions = {}): Promise<ListUse[]> => {
  const stage = await startStage({ sdk: false })
  try {
    const { clock, store, tableName, auditTableName } = stage.platform
    const filling = { client: store.documents, tableName, auditTableName }
    const world = await createWorld(stage)
    const found = new Map<string, ListUse>()
    let filled = 0
    for (const size of sizes) {
      await putAll(filling, between(world, filled, size, clock.now()))
      clock.advance(size - filled)
      filled = size
      for (const { list, page, consumption } of await pagesOf(stage, world, size, { only, among })) {
        const use = found.get(`${list} ${page}`) ?? { list, page, uses: [] }
        use.uses.push({ calls: consumption.calls, readUnits: consumption.readUnits })
        found.set(`${list} ${page}`, use)
      }
    }
    return [...found.values()]
  } finally {
    await stage.close()
  }
}

async function* between(world: World, from: number, to: number, now: number): AsyncGenerator<Write> {
  for (let n = from; n < to; n++) yield* await recordsAt(world, n, now + n - from)
}

interface Measured {
  list: string
  page: string
  consumption: Consumption
}

const pagesOf = async (
  stage: Stage,
  world: World,
  size: number,
  { only = '', among }: ListOptions,
): Promise<Measured[]> => {
  const measured: Measured[] = []
  for (const endpoint of Object.values(requestFunctions).flat()) {
    const subject = LISTS[endpoint.id]
    const list = `${endpoint.method} ${endpoint.path}`
    if (!subject || !list.includes(only) || among?.includes(endpoint.id) === false) continue
    const pages = await measureList(stage, world, subject, size)
    measured.push(...Object.entries(pages).map(([page, consumption]) => ({ list, page, consumption })))
  }
  return measured
}

const ADMIN_OFFSET = 10

/** Measures the first page, a page in the middle, and the first page of each filter. */
const measureList = async (
  stage: Stage,
  world: World,
  subject: ListSubject,
  size: number,
): Promise<Record<string, Consumption>> => {
  const { clock } = stage.platform
  const credential =
    subject.as === 'developer'
      ? { headers: world.developed.headers }
      : subject.as === 'admin'
        ? { headers: { 'x-admin-key': 'local-admin-key' } }
        : { token: subject.as === 'person' ? world.person.token : world.token }
  const get = (query: string): Promise<Answer> => stage.call('GET', `${subject.path(world)}?${query}`, credential)
  const measure = async (query = ''): Promise<Consumption> => {
    clock.advance(REST_MS)
    return (await stage.meter.during(() => get(`limit=${PAGE}${query && `&${query}`}`))).consumption
  }
  const filters = async (): Promise<Record<string, Consumption>> => {
    const pages: Record<string, Consumption> = {}
    for (const [name, query] of Object.entries(subject.filters?.(world) ?? {})) pages[name] = await measure(query)
    return pages
  }
  // Their pages cost as much as what they skip, up to a limit, so they are compared at the same place for all sizes.
  if (subject.as === 'admin') {
    return { first: await measure(), middle: await measure(`offset=${ADMIN_OFFSET}`), ...(await filters()) }
  }
  let cursor = ''
  for (let passed = 0; passed < size / 2; ) {
    clock.advance(STEP_MS)
    const { body } = await get(`limit=${Math.min(LONGEST_PAGE, size / 2 - passed)}${cursor}`)
    passed += subject.passes ?? body.items.length
    cursor = `&cursor=${body.next_cursor}`
  }
  return { first: await measure(), middle: await measure(cursor.slice(1)), ...(await filters()) }
}

/** Record sizes differ by a digit here and there, which a sum of them may carry over a block's end. */
const isSame = (uses: ListUse['uses']): boolean =>
  uses.every(
    ({ calls, readUnits }) => calls === uses[0]?.calls && Math.abs(readUnits - (uses[0]?.readUnits ?? Number.NaN)) <= 1,
  )

/** Builds the table of the measurements. */
export const listTables = (lists: readonly ListUse[], sizes: readonly number[]): Table[] => {
  const counts = sizes.map((size) => size.toLocaleString('en'))
  return [
    {
      title: `Lists: pages of ${PAGE} in a workspace with ${counts.join(' and with ')} records of every kind`,
      columns: [
        'list',
        'page',
        ...counts.map((count) => `calls at ${count}`),
        ...counts.map((count) => `read units at ${count}`),
        'the same',
      ],
      rows: lists.map(({ list, page, uses }) => [
        list,
        page,
        ...uses.map(({ calls }) => String(calls)),
        ...uses.map(({ readUnits }) => fixed(readUnits, 1)),
        isSame(uses) ? 'yes' : 'no',
      ]),
      notes: [
        'The workspace has this many tasks, conversations, messages, messenger threads and their messages, files, runs, events, deliveries, members, invitations, installed agents and versions each. The numbers include authentication. A filter matches every fourth record. Units as in the tables of the endpoints.',
        'Event types and audit actions aren’t keys: such a page reads 200 entries at a time until it is full, at most 1,000, and then continues with its cursor. Only the longest word of a search is a key: a page reads 100 apps at a time, at most 400.',
        'The first page of notifications also counts unread ones, up to 100.',
      ],
    },
  ]
}
