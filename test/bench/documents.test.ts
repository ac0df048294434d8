import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { byFile, DERIVED, type DerivedPart } from '#bench/derived.ts'
import type { Consumption } from '#bench/endpoints/meter.ts'
import { measureStoreUse, type StoreUse } from '#bench/endpoints.ts'
import { differences, isTimed, readRecorded, writesOf } from '#bench/recorded.ts'
import { withResults } from '#bench/report/document.ts'

const recorded = readRecorded()
const AGAIN = 'run: npm run record -- costs'

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

describe(`the recorded use of the store is the code’s; if not, ${AGAIN}`, () => {
  let measured: StoreUse
  beforeAll(async () => {
    measured = await measureStoreUse()
  })

  it.each(['requests', 'workers'] as const)('for all %s', (kind) => {
    expect(measured.failures).toEqual([])
    const now = measured[kind].filter((one) => !isTimed(one))
    const was = new Map(recorded.store[kind].map(({ name, consumption }) => [name, consumption]))
    expect([...was.keys()].filter((name) => !isTimed({ name })).sort()).toEqual(now.map(({ name }) => name).sort())
    const differ = now.flatMap(({ name, consumption }) => {
      const found = differences(was.get(name) as Consumption, consumption)
      return found.length === 0 ? [] : [`${name}: ${found.join(', ')}`]
    })
    expect(differ).toEqual([])
  })

  it('for every write of a run, and every part of one with steps', () => {
    expect(measured.traces).toEqual(recorded.store.traces)
    expect(writesOf(measured)).toEqual(writesOf(recorded.store))
  })
})
