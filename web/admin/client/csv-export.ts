import { at } from '../../session/config.ts'
import { Failure, failureOf } from '../../session/failure.ts'
import { token } from './token.ts'

/** The first cell of the last record (`GET /admin/export/{dataset}`): only with it the export is whole. */
const END = '#end'

export interface Exported {
  file: Blob
  name: string
  /** All of it came. */
  whole: boolean
  bytes: number
}

/**
 * Fetches a dataset with the admin’s token, which stands in a header and in no address.
 * @param onBytes is told how much has come
 * @throws {Failure}
 */
export const fetchExport = async (
  dataset: string,
  range: { since?: string; until?: string },
  onBytes: (bytes: number) => void,
): Promise<Exported> => {
  const query = new URLSearchParams(range)
  const address = `admin/export/${encodeURIComponent(dataset)}${query.size > 0 ? `?${query}` : ''}`
  try {
    const response = await fetch(at(address), {
      headers: { authorization: `Bearer ${token() ?? ''}` },
      cache: 'no-store',
      credentials: 'omit',
    })
    if (!response.ok || !response.body) throw failureOf(response, await response.json().catch(() => ({})))
    const reader = response.body.getReader()
    const parts: Uint8Array<ArrayBuffer>[] = []
    let bytes = 0
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      parts.push(part.value)
      bytes += part.value.byteLength
      onBytes(bytes)
    }
    const file = new Blob(parts, { type: 'text/csv' })
    const [, name = `${dataset}.csv`] =
      /filename="([\w.-]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? []
    return { file, name, bytes, whole: lastCell(await file.slice(-1_000).text()) === END }
  } catch (error) {
    throw error instanceof Failure ? error : new Failure('no_connection', 0)
  }
}

const lastCell = (text: string): string => {
  const record = text.trimEnd().split('\r\n').at(-1) ?? ''
  return (record.split(',')[0] ?? '').replaceAll('"', '')
}

/** Hands a file over to the browser’s downloads. */
export const save = ({ file, name }: Pick<Exported, 'file' | 'name'>): void => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // The download has begun by then; the bytes are freed.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
