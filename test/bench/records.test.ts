import { expect, it } from 'vitest'
import { measureRecords, recordsTables } from '#bench/records.ts'

it('store use of the main operations stays the same with more records', async () => {
  const sizes = [450, 1_500]
  const [asked, took] = recordsTables(await measureRecords({ sizes, rounds: 1 }), sizes)
  expect(asked?.rows.filter((row) => row.at(-1) !== 'yes')).toEqual([])
  expect(asked?.rows.length).toBeGreaterThan(5)
  expect(took?.rows.every((row) => Number(row.at(-1)) > 0)).toBe(true)
})

it('an operation that uses the store more counts as a difference', () => {
  const use = (readUnits: number, calls = 3) => ({ calls, roundTrips: 2, readUnits, writeUnits: 1 })
  const grown = (...uses: ReturnType<typeof use>[]) => ({ operation: 'a list', uses, times: [[1], [2]] })
  const [asked, took] = recordsTables(
    [grown(use(4), use(5)), grown(use(4), use(6)), grown(use(4), use(4, 4))],
    [10, 20],
  )
  expect(asked?.rows.map((row) => row.at(-1))).toEqual(['yes', 'no', 'no'])
  expect(took?.rows[0]).toEqual(['a list', '1.0', '2.0', '2.00'])
})
