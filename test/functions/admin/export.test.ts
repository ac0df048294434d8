import { describe, expect, it } from 'vitest'
import { admin } from '#shared/http/authenticate/admin.ts'
import { DeveloperEntity } from '#shared/identity/developers/entity.ts'
import { WorkspaceEntity } from '#shared/identity/people/entity.ts'
import { csvRecord } from '#shared/insight/exports/csv.ts'
import { DATASETS } from '#shared/insight/exports/datasets.ts'
import { exportCsv } from '#shared/insight/exports/export.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { newId, stampOf } from '#shared/kernel/ids.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import type { Table } from '#shared/table/table.ts'
import { newDeveloper } from '#testkit/developers.ts'
import { installed } from '#testkit/fixtures.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { csvOf } from '#web/ui/csv.ts'
import { SUPER, signInModerator } from './observation-support.ts'

const platform = usingPlatform()

/** Parses CSV strictly (RFC 4180) into records of cells. */
const parse = (text: string): string[][] => {
  const records: string[][] = [[]]
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|$)/y
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text)
    if (!match) throw new Error(`invalid CSV: ${text.slice(cell.lastIndex, cell.lastIndex + 60)}`)
    const [, raw = '', end] = match
    records.at(-1)?.push(raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw)
    if (end === '\r\n') records.push([])
    if (end === '') break
  }
  return records.filter(({ length }) => length > 0)
}

const exported = async (dataset: string, query = '', options: object = SUPER) => {
  platform.clock.advance(1_000)
  const { status, text, headers } = await platform.call('GET', `/admin/export/${dataset}${query}`, options)
  const [columns = [], ...records] = parse(text)
  const end = records.pop()
  return { status, headers, columns, records, end }
}

describe('cells', () => {
  it('are never run as formulas by a spreadsheet, and decode to their original text', () => {
    for (const text of [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      '\n=1',
      '＝1',
      '－1',
      "=cmd|' /C calc'!A0",
      ' =1',
      '\u00a0\t+1',
      '\u200b@A1',
      '\ufeff=1',
      '\v-1',
      '\n  ＝1',
    ]) {
      expect(parse(csvRecord([text]))).toEqual([[`'${text}`]])
      // Exports from a page are formatted in the browser, by the same rule.
      expect(`${csvOf([[text]])}\r\n`).toBe(csvRecord([text]))
    }
    for (const text of ['a,b', 'say "hi"', 'two\r\nlines', 'ünïcode 😀', '', "'", 'a=1', ' a', '";=1']) {
      expect(parse(csvRecord(['x', text]))).toEqual([['x', text]])
      expect(`${csvOf([['x', text]])}\r\n`).toBe(csvRecord(['x', text]))
    }
    expect(csvRecord([-1, true, null, 'a'])).toBe('-1,true,,"a"\r\n')
  })

  it('contain no NUL, at which readers written in C end a text, and hide no formula behind one', () => {
    const texts = ['a\0b', '\0=1', '\0']
    expect(parse(csvRecord(texts))).toEqual([['ab', "'=1", '']])
    expect(`${csvOf([texts])}\r\n`).toBe(csvRecord(texts))
  })
})

describe('GET /admin/export/{dataset}', () => {
  it('exports every dataset in full, with a header and a final record count', async () => {
    const { token } = await installed(platform.deps)
    await newDeveloper(platform)
    await platform.call('POST', '/api/v1/runs', { token, body: { input: { secret: 'of the customer' } } })
    for (const dataset of DATASETS) {
      const { status, headers, columns, records, end } = await exported(dataset)
      expect([dataset, status]).toEqual([dataset, 200])
      expect(headers['content-type']).toMatch(/^text\/csv; charset=utf-8/)
      expect(headers['content-disposition']).toMatch(
        new RegExp(`^attachment; filename="${dataset}-\\d{4}-\\d\\d-\\d\\d\\.csv"$`),
      )
      expect(columns[0]).toBe('id')
      expect([dataset, ...(end ?? []).slice(0, 2)]).toEqual([dataset, '#end', String(records.length)])
      for (const one of [...records, end]) expect(one).toHaveLength(columns.length)
      expect([dataset, records.length > 0]).toEqual([dataset, dataset !== 'reviews'])
      expect(new Set(records.map(([id]) => id)).size).toBe(records.length)
    }
    expect(JSON.stringify((await exported('runs')).records)).not.toContain('of the customer')
  })

  it('exports email addresses and source addresses for superadmins only', async () => {
    await newDeveloper(platform)
    const { token } = await signInModerator(platform)
    for (const [dataset, column] of [
      ['developers', 'email'],
      ['audit', 'source_ip'],
    ] as const) {
      const cells = ({ columns, records }: Awaited<ReturnType<typeof exported>>) =>
        records.map((one) => one[columns.indexOf(column)]).filter((cell) => cell !== '').length
      expect(cells(await exported(dataset))).toBeGreaterThan(0)
      expect(cells(await exported(dataset, '', { token }))).toBe(0)
    }
  })

  it('exports the records of the requested time range', async () => {
    await newDeveloper(platform)
    platform.clock.advance(DAY)
    const since = platform.clock.now()
    const inside = await newDeveloper(platform)
    platform.clock.advance(DAY)
    const until = platform.clock.now()
    await newDeveloper(platform)
    const query = `?since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}`
    expect((await exported('developers', query)).records.map(([id]) => id)).toEqual([inside.id])
    const actions = (await exported('audit', query)).records
    expect(actions.length).toBeGreaterThan(0)
    const times = actions.map((one) => Date.parse(one.at(-1) ?? ''))
    expect(times.every((at) => at >= since && at < until)).toBe(true)
  })

  it('exports everything since a time before 1970, and nothing until one', async () => {
    const { id } = await newDeveloper(platform)
    const all = (await exported('developers', '?since=0001-01-01T00:00:00Z')).records.map(([one]) => one)
    expect(all).toContain(id)
    for (const dataset of ['developers', 'installations', 'audit']) {
      const { status, records, end } = await exported(dataset, '?until=1969-12-31T23:59:59Z')
      expect([dataset, status, records, end?.[0]]).toEqual([dataset, 200, [], '#end'])
    }
  })

  it('is audited with actor and dataset before the first record is sent', async () => {
    const { token, admin } = await signInModerator(platform)
    await exported('apps', '', { token })
    const { items } = await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 1 })
    expect(items[0]).toMatchObject({
      action: 'export.begun',
      actor: { type: 'admin', id: admin.id },
      target: { type: 'export', id: 'apps' },
    })
  })

  it('refuses unknown datasets and filters', async () => {
    expect((await platform.call('GET', '/admin/export/secrets', SUPER)).body.error.code).toBe('not_found')
    platform.clock.advance(1_000)
    const { body } = await platform.call('GET', '/admin/export/apps?since=yesterday', SUPER)
    expect(body.error.code).toBe('validation_error')
  })
})

describe('an export of 2,000 records', () => {
  it('is read page by page, no faster than the client consumes it', async () => {
    const { deps, clock } = platform
    clock.advance(DAY)
    const since = clock.now()
    for (let i = 0; i < 20; i++) {
      clock.advance(10)
      const now = clock.now()
      await deps.table.transact(
        Array.from({ length: 100 }, (_, n) =>
          WorkspaceEntity.create({
            ...stampOf(newId('workspace', now)),
            name: `=Workspace ${i}.${n}`,
            is_sandbox: false,
            status: 'active',
            locale: 'en',
            time_zone: 'UTC',
            cross_agent_enabled: true,
            denied_tools: [],
            denied_scopes: [],
          }),
        ),
      )
    }
    let pages = 0
    const counting = new Proxy(deps.table, {
      get: (table, name: keyof Table) => {
        if (name === 'load') pages++
        const value = table[name]
        return typeof value === 'function' ? value.bind(table) : value
      },
    })
    const range = { since, until: clock.now() + 1 }
    const asked = { dataset: 'workspaces' as const, superadmin: true, requestId: 'req_1', ...range }
    const pieces = exportCsv({ table: counting }, asked, new AbortController().signal)
    let records = 0
    let largest = 0
    let taken = 0
    let last = ''
    for await (const piece of pieces) {
      taken++
      // Reading is never ahead of the client: first the header, then one page per piece.
      expect(pages).toBeLessThanOrEqual(taken)
      const lines = piece.split('\r\n').length - 1
      largest = Math.max(largest, lines)
      records += lines
      last = piece
    }
    expect(last).toMatch(/^"#end",2000,/)
    expect([records, largest]).toEqual([2_002, 100])
  })

  it('is recognizably incomplete when the store fails halfway, or the export is aborted', async () => {
    const { table, clock } = { ...platform.deps }
    let calls = 0
    const failing = new Proxy(table, {
      get: (target, name: keyof Table) => {
        if (name === 'load' && ++calls > 3) throw new Error('the store failed')
        const value = target[name]
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const asked = { dataset: 'workspaces' as const, superadmin: true, requestId: 'req_1', since: 0, until: clock.now() }
    let text = ''
    const take = async () => {
      for await (const piece of exportCsv({ table: failing }, asked, new AbortController().signal)) text += piece
    }
    await expect(take()).rejects.toThrow('the store failed')
    expect(parse(text).at(-1)?.slice(0, 3)).toEqual(['#incomplete', '300', 'req_1'])

    const over = new AbortController()
    text = ''
    for await (const piece of exportCsv({ table }, asked, over.signal)) {
      text += piece
      over.abort()
    }
    expect(parse(text).at(-1)?.[0]).toBe('#incomplete')
    expect(parse(text).length).toBeLessThan(1_000)
  })
})

it('an export includes every record when many were created in the same millisecond', async () => {
  const { deps, clock } = platform
  clock.advance(DAY)
  const since = clock.now()
  const made = await Promise.all(Array.from({ length: 30 }, () => newDeveloper(platform)))
  clock.advance(1_000)
  const { records } = await exported('developers', `?since=${new Date(since).toISOString()}`)
  expect(records.map(([id]) => id).sort()).toEqual(made.map(({ id }) => id).sort())
  expect(await deps.table.get(DeveloperEntity, { id: made[0]?.id ?? '' })).toBeDefined()
})

it('an export rechecks its admin without counting against their rate limit', async () => {
  const { token } = await signInModerator(platform)
  const credentials = { method: 'GET', path: '/admin/export', query: [], body: undefined, sourceIp: undefined } as const
  for (const headers of [{ authorization: `Bearer ${token}` }, SUPER.headers]) {
    for (let i = 0; i < 200; i++) {
      const { caller } = await admin(platform.deps, { ...credentials, query: [], headers, again: true })
      expect(caller.kind).toBe('admin')
    }
  }
})
