import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { REQUEST_UNITS } from '#functions/units.ts'
import type { BundleReport } from '#infra/bundle.ts'
import { type Import, importTimes } from './bundles/process.ts'
import { fixed, type Table } from './report/table.ts'
import { median, spread } from './statistics.ts'

/** Limit and aim of the cold import of functions that serve requests, in addition to bare Node. */
const LIMITS = { maxMs: 75, aimMs: 65 }

const REPORTS = path.resolve(import.meta.dirname, '../dist/bundles.json')

/** Compares a value with its aim and its limit. */
export const verdict = (value: number, aim: number, max: number): string =>
  value <= aim ? 'aim kept' : value <= max ? 'limit kept' : 'OVER'

/** Returns the resource whose first request loads most. */
const heaviestOf = ({ name, later }: BundleReport) =>
  name in REQUEST_UNITS
    ? later.filter(({ module }) => module.startsWith('functions/')).sort((a, b) => b.bytes - a.bytes)[0]
    : undefined

/** Returns the packages that are loaded only by the calls that need them, with their sizes. */
const packagesOf = (reports: readonly BundleReport[]): string[] => {
  const sizes = new Map<string, number>()
  for (const { module, bytes } of reports.flatMap(({ later }) => later)) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1]
    if (name) sizes.set(name, Math.max(bytes, sizes.get(name) ?? 0))
  }
  return [...sizes].map(([name, bytes]) => `${name} (${kb(bytes)} KB)`)
}

const kb = (bytes: number): string => fixed(bytes / 1_000, 0)

/** Measures size and cold import of every built function. @throws Error if nothing was built */
export const bundles = async ({ samples = 15 }: { samples?: number } = {}): Promise<Table[]> => {
  if (!existsSync(REPORTS)) throw new Error('There are no bundles. Run: npm run build')
  const reports: BundleReport[] = JSON.parse(readFileSync(REPORTS, 'utf8'))
  const built = reports.map((report) => {
    const { file } = report
    const heaviest = heaviestOf(report)
    const always: Import = { files: [file], without: [] }
    const more: Import | undefined = heaviest && { files: [file, heaviest.file], without: [file] }
    return { report, heaviest, always, more }
  })
  const times = await importTimes(
    built.flatMap(({ always, more }) => [always, ...(more ? [more] : [])]),
    samples,
  )
  const { maxMs, aimMs } = LIMITS
  const rows = built.map(({ report: { name, bytes }, heaviest, always, more }) => {
    const samplesOf = times.get(always) ?? []
    const ms = median(samplesOf)
    const start = [name, heaviest ? 'requests' : 'worker', kb(bytes), fixed(ms, 1), fixed(spread(samplesOf), 1)]
    if (!heaviest || !more) return [...start, '', '', '', '', '']
    const moreMs = median(times.get(more) ?? [])
    return [
      ...start,
      verdict(ms, aimMs, maxMs),
      heaviest.module.replace(/^functions\/|\.ts$/g, ''),
      kb(heaviest.bytes),
      fixed(moreMs, 1),
      fixed(ms + moreMs, 1),
    ]
  })
  return [
    {
      title: 'Bundles: size and cold import',
      columns: [
        'function',
        'serves',
        'KB',
        'import ms',
        '±',
        'import',
        'largest resource',
        'its KB',
        'its ms',
        'together ms',
      ],
      rows,
      notes: [
        `Import: additional time of a fresh Node process that requires the bundle, compared to one that loads nothing. The two run in turns. Medians of ${samples} pairs, ± half the distance of their quartiles.`,
        `For functions that serve requests: at most ${maxMs} ms (aim ${aimMs}). KB are 1,000 bytes.`,
        'A function loads a resource at its first request, while it waits for the records that authenticate the caller. The largest resource: what it adds to the files that are loaded already, and its time, compared to a process that requires the bundle only.',
        `Loaded only by calls that need them: ${packagesOf(reports).join(', ')}.`,
      ],
    },
  ]
}
