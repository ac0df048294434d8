import type { Deps } from '#shared/foundation/work/index.ts'
import { type Cell, csvRecord } from './csv.ts'
import { DATASET_DEFINITIONS, type DatasetName } from './datasets.ts'
import type { Range } from './pages.ts'

/** First cell of the last record: whether the export is complete. */
export const END = '#end'
export const INCOMPLETE = '#incomplete'

export interface Export extends Range {
  dataset: DatasetName
  superadmin: boolean
  /** Reported in an incomplete export. */
  requestId: string
}

/**
 * Exports a dataset as CSV. Each page is read after the previous one was consumed, so that memory holds one page at a
 * time. The status is sent before anything can fail, so the last record reports the outcome: `#end` with the number of
 * records, or `#incomplete` with the number and the request id. An export without either was cut off.
 */
export async function* exportCsv(
  deps: Pick<Deps, 'table'>,
  { dataset, superadmin, requestId, ...range }: Export,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { columns, pages } = DATASET_DEFINITIONS[dataset]
  const names = Object.keys(columns)
  const cells = Object.values(columns) as ((item: object, reader: { superadmin: boolean }) => Cell)[]
  const note = (...cells: Cell[]): string => csvRecord(names.map((_, i) => cells[i]))
  let records = 0
  yield csvRecord(names)
  try {
    for await (const page of pages(deps, range)) {
      if (signal.aborted) {
        yield note(INCOMPLETE, records, requestId)
        return
      }
      if (page.length === 0) continue
      records += page.length
      yield page.map((item) => csvRecord(cells.map((cell) => cell(item, { superadmin })))).join('')
    }
  } catch (error) {
    yield note(INCOMPLETE, records, requestId)
    throw error
  }
  yield note(END, records)
}
