import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { requestFunctions } from '#functions/registry.ts'
import { importTimes } from './bundles/process.ts'
import { fixed, type Table } from './report/table.ts'
import { median, spread } from './statistics.ts'

/** Limit and aim of the cold import of functions that serve requests, in addition to bare Node. */
const LIMITS = { maxMs: 75, aimMs: 65 }

const BUNDLES = path.resolve(import.meta.dirname, '../dist/functions')

/** Compares a value with its aim and its limit. */
export const verdict = (value: number, aim: number, max: number): string =>
  value <= aim ? 'aim kept' : value <= max ? 'limit kept' : 'OVER'

/** Measures size and cold import of every built function. @throws Error if nothing was built */
export const bundles = async ({ samples = 15 }: { samples?: number } = {}): Promise<Table[]> => {
  const names = existsSync(BUNDLES) ? readdirSync(BUNDLES).sort() : []
  const built = names
    .map((name) => ({ name, file: path.join(BUNDLES, name, 'index.cjs') }))
    .filter(({ file }) => existsSync(file) && statSync(file).size > 0)
  if (built.length === 0) throw new Error('There are no bundles. Run: npm run build')
  const times = await importTimes(
    built.map(({ file }) => file),
    samples,
  )
  const { maxMs, aimMs } = LIMITS
  const rows = built.map(({ name, file }) => {
    const kb = statSync(file).size / 1_000
    const samplesOf = times.get(file) ?? []
    const ms = median(samplesOf)
    const serves = name in requestFunctions
    return [
      name,
      serves ? 'requests' : 'worker',
      fixed(kb, 0),
      fixed(ms, 1),
      fixed(spread(samplesOf), 1),
      serves ? verdict(ms, aimMs, maxMs) : '',
    ]
  })
  return [
    {
      title: 'Bundles: size and cold import',
      columns: ['function', 'serves', 'KB', 'import ms', '±', 'import'],
      rows,
      notes: [
        `Import: additional time of a fresh Node process that requires the bundle, compared to one that loads nothing. The two run in turns. Medians of ${samples} pairs, ± half the distance of their quartiles.`,
        `For functions that serve requests: at most ${maxMs} ms (aim ${aimMs}). KB are 1,000 bytes.`,
      ],
    },
  ]
}
