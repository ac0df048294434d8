import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { unitNames } from '#functions/units.ts'
import { forEachConcurrently } from '#shared/kernel/for-each-concurrently.ts'
import { type BundleOptions, buildOnce, buildOptions, removeOthers, rootOf } from './bundle/build.ts'
import { generateEntries, importEntries } from './bundle/entry-points.ts'
import { NOTICES, noticesOf, packagesOf } from './bundle/notices.ts'
import { copyServed, PAGES_UNIT, PARTS, prebuild, SERVED } from './bundle/prebuild.ts'
import { type BundleReport, reportsOf } from './bundle/report.ts'

export type { BundleOptions } from './bundle/build.ts'
export type { BundleReport } from './bundle/report.ts'

/**
 * Builds each function into a folder of its own, `dist/functions/<name>`, as it is deployed: `index.cjs` (handler `index.handler`),
 * files that it requires, now or later, and the files that it serves. Writes the reports to `dist/bundles.json`.
 *
 * @throws {Error} with the bundler's messages if a source doesn't compile
 */
export async function bundle(options: BundleOptions = {}): Promise<BundleReport[]> {
  const { inProcess = false } = options
  const root = rootOf(options)
  const dist = join(root, 'dist')
  const folder = join(dist, 'functions')
  const names = options.entries ? Object.keys(options.entries) : unitNames()
  const hasPages = names.includes(PAGES_UNIT)
  const reports: BundleReport[] = []

  const buildEach = async () => {
    const entries = options.entries ?? (await (inProcess ? importEntries() : generateEntries()))
    const failed = await forEachConcurrently(names, availableParallelism(), async (name) => {
      const files = new Set<string>([NOTICES, ...(SERVED[name] ?? [])])
      const modules = new Set<string>()
      await buildOnce(
        buildOptions(options, {
          names: [name],
          entries: async () => entries,
          folder: 'functions',
          chunks: `functions/${name}`,
          written: (chunks) => {
            for (const { fileName, moduleIds } of chunks) {
              files.add(basename(fileName))
              for (const id of moduleIds) modules.add(id)
            }
            reports.push(...reportsOf(chunks, root))
          },
        }),
      )
      await writeFile(join(folder, name, NOTICES), noticesOf(packagesOf(modules)))
      await removeOthers(join(folder, name), files)
    })
    for (const error of failed.values()) throw error
  }
  const parts = hasPages ? PARTS : []
  await Promise.all([buildEach(), ...parts.map((part) => prebuild(root, part, inProcess))])
  if (hasPages) await Promise.all(Object.keys(SERVED).map((name) => copyServed(root, name, folder)))
  await removeOthers(folder, new Set(names))
  reports.sort((a, b) => a.name.localeCompare(b.name))
  await writeFile(join(dist, 'bundles.json'), JSON.stringify(reports))
  return reports
}

const kb = (bytes: number): string => (bytes / 1_000).toFixed(0).padStart(5)

if (import.meta.main) {
  const started = performance.now()
  try {
    const reports = await bundle({ inProcess: true })
    for (const { name, bytes, later } of reports) {
      const [heaviest = 0] = later.map((one) => one.bytes).sort((a, b) => b - a)
      console.log(`${name.padEnd(20)} ${kb(bytes)} KB, and at most ${kb(heaviest)} KB for a request`)
    }
    console.log(`${reports.length} functions in ${Math.round(performance.now() - started)} ms`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
