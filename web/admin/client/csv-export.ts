import { resolveUrl } from '../../session/config.ts'
import { Failure, failureOf } from '../../session/failure.ts'
import { sendConfirmed } from './confirmation.ts'
import { token } from './token.ts'

/** First cell of the last record (`GET /admin/export/{dataset}`). An export without it is incomplete. */
const END = '#end'

export interface Exported {
  file: Blob
  name: string
  /** True if the export is complete. */
  whole: boolean
  bytes: number
}

/**
 * Downloads a dataset with the admin's token, which is sent in a header, never in a URL.
 * @param onBytes called with the number of bytes received so far
 * @throws {Failure}
 */
export const downloadExport = async (
  dataset: string,
  range: { since?: string; until?: string },
  onBytes: (bytes: number) => void,
): Promise<Exported> => {
  const query = new URLSearchParams(range)
  const address = `admin/export/${encodeURIComponent(dataset)}${query.size > 0 ? `?${query}` : ''}`
  try {
    const request = new Request(resolveUrl(address), {
      headers: { authorization: `Bearer ${token() ?? ''}` },
      cache: 'no-store',
      credentials: 'omit',
    })
    const response = await sendConfirmed(request)
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

/** Saves a file through the browser's downloads. */
export const saveFile = ({ file, name }: Pick<Exported, 'file' | 'name'>): void => {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // By then the download has started, so the memory can be freed.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
