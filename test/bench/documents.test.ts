import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { byFile, DERIVED, type DerivedPart } from '#bench/derived.ts'
import type { Consumption } from '#bench/endpoints/meter.ts'
import { measureStoreUse, type StoreUse } from '#bench/endpoints.ts'
import { readRecorded } from '#bench/recorded.ts'
import { withResults } from '#bench/report/document.ts'

const recorded = readRecorded()
const AGAIN = 'run: npm run build && npm run bench -- endpoints --markdown'

describe('the documents', () => {
  it.each(Object.keys(DERIVED) as DerivedPart[])(
    `show %s as the code, the templates and the prices give it; if not, ${AGAIN}`,
    async (part) => {
      for (const [file, tables] of byFile(part, await DERIVED[part](recorded))) {
        const document = readFileSync(file, 'utf8')
        expect(document, path.basename(file)).toContain(`<!-- bench:${part} -->`)
        expect(document, path.basename(file)).toBe(withResults(document, part, tables))
      }
    },
  )
})

/** They wait for a run or read until something has changed, so the number of their reads depends on the time. */
const WAITS = /ask_agent|test-run|test-install|tools\/call of an agent’s tool|message:stream|\?wait|waited for/

/** Bytes of a record of a counter. Whether a write creates it depends on the hour and on the shard that is drawn. */
const COUNTER_BYTES = 500

/** A rate limit may be read again. */
const near = (one: number, other: number, least: number): boolean =>
  Math.abs(one - other) <= Math.max(least, 0.05 * Math.max(one, other))

const differences = (was: Consumption, now: Consumption): string[] => {
  const fields = ['writeUnits', 'dueUnits', 'counterUnits'] as const
  return [
    ...fields.filter((field) => was[field] !== now[field]).map((field) => `${field} ${was[field]} → ${now[field]}`),
    ...(near(was.readUnits, now.readUnits, 1) ? [] : [`readUnits ${was.readUnits} → ${now.readUnits}`]),
    ...(near(was.calls, now.calls, 1) ? [] : [`calls ${was.calls} → ${now.calls}`]),
    ...(near(was.storedBytes, now.storedBytes, COUNTER_BYTES * (1 + now.counterUnits))
      ? []
      : [`storedBytes ${was.storedBytes} → ${now.storedBytes}`]),
  ]
}

describe(`the recorded use of the store is the code’s; if not, ${AGAIN}`, () => {
  let measured: StoreUse
  beforeAll(async () => {
    measured = await measureStoreUse()
  })

  it.each(['requests', 'workers'] as const)('for all %s', (kind) => {
    expect(measured.failures).toEqual([])
    const now = measured[kind].filter(({ name }) => !WAITS.test(name))
    const was = new Map(recorded.store[kind].map(({ name, consumption }) => [name, consumption]))
    expect([...was.keys()].filter((name) => !WAITS.test(name)).sort()).toEqual(now.map(({ name }) => name).sort())
    const differ = now.flatMap(({ name, consumption }) => {
      const found = differences(was.get(name) as Consumption, consumption)
      return found.length === 0 ? [] : [`${name}: ${found.join(', ')}`]
    })
    expect(differ).toEqual([])
  })

  it('for every write of a run, and every part of one with steps', () => {
    expect(measured.traces).toEqual(recorded.store.traces)
    const partsOf = ({ longRun }: Pick<StoreUse, 'longRun'>) =>
      longRun.map((part) => (part.kind === 'event' ? part.kind : [part.kind, part.consumption.writeUnits]))
    expect(partsOf(measured)).toEqual(partsOf(recorded.store))
  })
})
