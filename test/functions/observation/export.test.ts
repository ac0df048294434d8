import { describe, expect, it } from 'vitest'
import { record } from '#shared/domain/exports/csv.ts'
import { DATASETS } from '#shared/domain/exports/datasets.ts'
import { exportCsv } from '#shared/domain/exports/export.ts'
import { DeveloperEntity } from '#shared/entities/developers.ts'
import { WorkspaceEntity } from '#shared/entities/people.ts'
import { AuditEntity } from '#shared/entities/platform.ts'
import { admin } from '#shared/http/authenticate/admin.ts'
import { DAY } from '#shared/kernel/clock.ts'
import { newId } from '#shared/kernel/ids.ts'
import type { Table } from '#shared/table/table.ts'
import { newDeveloper } from '#test/functions/developer/support.ts'
import { installed } from '#test/support/fixtures.ts'
import { usingPlatform } from '#test/support/using-platform.ts'
import { moderator, SUPER } from './support.ts'

const platform = usingPlatform()

/** Reads CSV strictly (RFC 4180): records of cells. */
const parse = (text: string): string[][] => {
  const records: string[][] = [[]]
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|$)/y
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text)
    if (!match) throw new Error(`no CSV: ${text.slice(cell.lastIndex, cell.lastIndex + 60)}`)
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
  it('are never run as formulas by a spreadsheet, and come back as they were', () => {
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
      expect(parse(record([text]))).toEqual([[`'${text}`]])
    }
    for (const text of ['a,b', 'say "hi"', 'two\r\nlines', 'ünïcode 😀', '', "'", 'a=1', ' a', '";=1']) {
      expect(parse(record(['x', text]))).toEqual([['x', text]])
    }
    expect(record([-1, true, null, 'a'])).toBe('-1,true,,"a"\r\n')
  })

  it('hold no NUL, at which readers written in C end a text, and hide no formula behind one', () => {
    expect(parse(record(['a\0b', '\0=1', '\0']))).toEqual([['ab', "'=1", '']])
  })
})

describe('GET /admin/export/{dataset}', () => {
  it('gives every dataset whole, with a header and the number of records at its end', async () => {
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

  it('gives e-mail addresses and source addresses to superadmins only', async () => {
    await newDeveloper(platform)
    const { token } = await moderator(platform)
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

  it('gives the records of the time that is asked for', async () => {
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

  it('gives everything since a moment before 1970, and nothing until one', async () => {
    const { id } = await newDeveloper(platform)
    const all = (await exported('developers', '?since=0001-01-01T00:00:00Z')).records.map(([one]) => one)
    expect(all).toContain(id)
    for (const dataset of ['developers', 'installations', 'audit']) {
      const { status, records, end } = await exported(dataset, '?until=1969-12-31T23:59:59Z')
      expect([dataset, status, records, end?.[0]]).toEqual([dataset, 200, [], '#end'])
    }
  })

  it('is in the audit before its first record goes out, with who and what', async () => {
    const { token, admin } = await moderator(platform)
    await exported('apps', '', { token })
    const { items } = await platform.deps.table.query(AuditEntity, { scope: 'platform' }, { limit: 1 })
    expect(items[0]).toMatchObject({
      action: 'export.begun',
      actor: { type: 'admin', id: admin.id },
      target: { type: 'export', id: 'apps' },
    })
  })

  it('knows no other dataset, and no filter beyond its own', async () => {
    expect((await platform.call('GET', '/admin/export/secrets', SUPER)).body.error.code).toBe('not_found')
    platform.clock.advance(1_000)
    const { body } = await platform.call('GET', '/admin/export/apps?since=yesterday', SUPER)
    expect(body.error.code).toBe('validation_error')
  })
})

describe('2,000 records', () => {
  it('pass through memory page by page, as fast as they are taken', async () => {
    const { deps, clock } = platform
    clock.advance(DAY)
    const since = clock.now()
    for (let i = 0; i < 20; i++) {
      clock.advance(10)
      const now = clock.now()
      await deps.table.transact(
        Array.from({ length: 100 }, (_, n) =>
          WorkspaceEntity.create({
            id: newId('workspace', now),
            name: `=Workspace ${i}.${n}`,
            is_sandbox: false,
            status: 'active',
            locale: 'en',
            time_zone: 'UTC',
            cross_agent_enabled: true,
            denied_tools: [],
            denied_scopes: [],
            created_at: now,
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
      // Never ahead of whoever takes it: header, then a page for each piece.
      expect(pages).toBeLessThanOrEqual(taken)
      const lines = piece.split('\r\n').length - 1
      largest = Math.max(largest, lines)
      records += lines
      last = piece
    }
    expect(last).toMatch(/^"#end",2000,/)
    expect([records, largest]).toEqual([2_002, 100])
  })

  it('are recognizably incomplete when the store fails in the middle, or the export is ended', async () => {
    const { table, clock } = { ...platform.deps }
    let calls = 0
    const failing = new Proxy(table, {
      get: (target, name: keyof Table) => {
        if (name === 'load' && ++calls > 3) throw new Error('the store is gone')
        const value = target[name]
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const asked = { dataset: 'workspaces' as const, superadmin: true, requestId: 'req_1', since: 0, until: clock.now() }
    let text = ''
    const take = async () => {
      for await (const piece of exportCsv({ table: failing }, asked, new AbortController().signal)) text += piece
    }
    await expect(take()).rejects.toThrow('the store is gone')
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

it('leaves nobody out where many were made at the same moment', async () => {
  const { deps, clock } = platform
  clock.advance(DAY)
  const since = clock.now()
  const made = await Promise.all(Array.from({ length: 30 }, () => newDeveloper(platform)))
  clock.advance(1_000)
  const { records } = await exported('developers', `?since=${new Date(since).toISOString()}`)
  expect(records.map(([id]) => id).sort()).toEqual(made.map(({ id }) => id).sort())
  expect(await deps.table.get(DeveloperEntity, { id: made[0]?.id ?? '' })).toBeDefined()
})

it('asks whether its admin still stands without counting against their rate, however often', async () => {
  const { token } = await moderator(platform)
  const credentials = { method: 'GET', query: [], body: undefined } as const
  for (const headers of [{ authorization: `Bearer ${token}` }, SUPER.headers]) {
    for (let i = 0; i < 200; i++) {
      const { caller } = await admin(platform.deps, { ...credentials, query: [], headers, again: true })
      expect(caller.kind).toBe('admin')
    }
  }
})
