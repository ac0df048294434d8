import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Sources } from './cost.ts'
import { byFile, DERIVED } from './derived.ts'
import { measureStoreUse } from './endpoints.ts'
import { formatSources, MEASURED, readRecorded, withStore } from './recorded.ts'
import { withResults } from './report/document.ts'

const ROOT = path.resolve(import.meta.dirname, '..')

/** Returns the text of the measurements, and of all documents that follow from them, because one is never newer than another. */
export const filesOf = async (sources: Sources): Promise<Map<string, string>> => {
  const files = new Map([[MEASURED, formatSources(sources)]])
  for (const [part, tablesOf] of Object.entries(DERIVED)) {
    for (const [file, tables] of byFile(part, await tablesOf(sources))) {
      const name = path.relative(ROOT, file)
      files.set(name, withResults(files.get(name) ?? readFileSync(file, 'utf8'), part, tables))
    }
  }
  return files
}

/**
 * Measures the use of the store again. Returns the text of what follows from it.
 *
 * @throws Error if a request failed, because the sums would lack it
 */
export const recordCosts = async (): Promise<Map<string, string>> => {
  const use = await measureStoreUse()
  if (use.failures.length > 0) throw new Error(`These requests failed:\n${use.failures.join('\n')}`)
  return filesOf(withStore(readRecorded(), use))
}
