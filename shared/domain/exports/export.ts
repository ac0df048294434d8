import type { Deps } from '../deps.ts'
import { type Cell, record } from './csv.ts'
import { DATASET, type DatasetName } from './datasets.ts'
import type { Range } from './pages.ts'

/** What the last record’s first cell says: the export is whole, or was ended early. */
export const END = '#end'
export const INCOMPLETE = '#incomplete'

export interface Export extends Range {
  dataset: DatasetName
  superadmin: boolean
  /** Told in an export that was ended early. */
  requestId: string
}

/**
 * A dataset as CSV, page by page: the next one is read when the one before was taken, so that memory holds one page however much
 * there is and however slowly it is taken. The status has gone out by the time anything can fail, so the last record tells: `#end`
 * and how many there were, or `#incomplete`, how many there are and the request. One that ends without either was cut, too.
 */
export async function* exportCsv(
  deps: Pick<Deps, 'table'>,
  { dataset, superadmin, requestId, ...range }: Export,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { columns, pages } = DATASET[dataset]
  const names = Object.keys(columns)
  const cells = Object.values(columns) as ((item: object, reader: { superadmin: boolean }) => Cell)[]
  const note = (...said: Cell[]): string => record(names.map((_, i) => said[i]))
  let records = 0
  yield record(names)
  try {
    for await (const page of pages(deps, range)) {
      if (signal.aborted) {
        yield note(INCOMPLETE, records, requestId)
        return
      }
      if (page.length === 0) continue
      records += page.length
      yield page.map((item) => record(cells.map((cell) => cell(item, { superadmin })))).join('')
    }
  } catch (error) {
    yield note(INCOMPLETE, records, requestId)
    throw error
  }
  yield note(END, records)
}
