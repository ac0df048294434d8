import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { requestFunctions } from '#functions/registry.ts'
import { importTimes } from './bundles/process.ts'
import { fixed, type Table } from './report/table.ts'
import { median, spread } from './statistics.ts'

/** For every function that serves requests. KB are 1,000 bytes. */
const BUNDLE_LIMITS = { maxKb: 400, aimKb: 350, maxMs: 75, aimMs: 65 }

const BUNDLES = path.resolve(import.meta.dirname, '../dist/functions')

/** How a value stands to its aim and its limit. */
export const verdict = (value: number, aim: number, max: number): string =>
  value <= aim ? 'aim kept' : value <= max ? 'limit kept' : 'OVER'

/** Size and cold import of every built function. @throws Error when nothing was built */
export const bundles = async ({ samples = 15 }: { samples?: number } = {}): Promise<Table[]> => {
  const names = existsSync(BUNDLES) ? readdirSync(BUNDLES).sort() : []
  const built = names
    .map((name) => ({ name, file: path.join(BUNDLES, name, 'index.cjs') }))
    .filter(({ file }) => existsSync(file) && statSync(file).size > 0)
  if (built.length === 0) throw new Error('There are no bundles: npm run build')
  const times = await importTimes(
    built.map(({ file }) => file),
    samples,
  )
  const { maxKb, aimKb, maxMs, aimMs } = BUNDLE_LIMITS
  const rows = built.map(({ name, file }) => {
    const kb = statSync(file).size / 1_000
    const samplesOf = times.get(file) ?? []
    const ms = median(samplesOf)
    const serves = name in requestFunctions
    return [
      name,
      serves ? 'requests' : 'worker',
      fixed(kb, 0),
      serves ? verdict(kb, aimKb, maxKb) : '',
      fixed(ms, 1),
      fixed(spread(samplesOf), 1),
      serves ? verdict(ms, aimMs, maxMs) : '',
    ]
  })
  return [
    {
      title: 'Bundles: size and cold import',
      columns: ['function', 'serves', 'KB', 'size', 'import ms', '±', 'import'],
      rows,
      notes: [
        `Import: how much longer a fresh Node process takes that requires the bundle than one that loads nothing, in turns; medians of ${samples} pairs, ± half the distance of their quartiles.`,
        `For functions that serve requests: at most ${maxKb} KB (aim ${aimKb}) and ${maxMs} ms (aim ${aimMs}). KB are 1,000 bytes.`,
      ],
    },
  ]
}
