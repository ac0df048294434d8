/** Ways to show a file. HTML, SVG and scripts are shown as their text, so that nothing in them ever runs. */
export type PreviewKind = 'image' | 'pdf' | 'csv' | 'markdown' | 'text'

/** Largest image of which a list shows a small picture, in bytes. */
export const LARGEST_THUMBNAIL = 2 * 1_024 * 1_024

/** Largest image that is shown, and the beginning of a text that is read, in bytes. */
export const LARGEST_IMAGE = 15 * 1_024 * 1_024
export const TEXT_READ = 512 * 1_024

const TEXT_TYPES = /^(text\/|application\/(json|xml|javascript|yaml|x-yaml|x-ndjson|x-sh|sql|toml)$)|\+(json|xml)$/i
const TEXT_NAMES =
  /\.(txt|log|json|jsonl|xml|svg|html?|css|[cm]?[jt]sx?|py|rb|go|rs|java|c|h|cpp|sh|sql|ya?ml|toml|ini|env|diff|patch)$/i

interface Shown {
  name: string
  content_type: string
  size: number
}

/** Returns how a file is shown; undefined for one that can only be downloaded. */
export const previewKind = ({ name, content_type, size }: Shown): PreviewKind | undefined => {
  const [type = ''] = content_type.toLowerCase().split(';')
  if (/^image\/(png|jpeg|gif|webp|avif)$/.test(type)) return size <= LARGEST_IMAGE ? 'image' : undefined
  // The platform lets a browser show exactly this type.
  if (content_type.toLowerCase() === 'application/pdf') return 'pdf'
  if (/^text\/(csv|tab-separated-values)$/.test(type) || /\.(csv|tsv)$/i.test(name)) return 'csv'
  if (type === 'text/markdown' || /\.(md|markdown)$/i.test(name)) return 'markdown'
  return TEXT_TYPES.test(type) || TEXT_NAMES.test(name) ? 'text' : undefined
}

/** First bytes of the image formats that browsers show without running anything. */
const SIGNATURES: readonly [type: string, at: number, bytes: readonly number[]][] = [
  ['image/png', 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', 0, [0xff, 0xd8, 0xff]],
  ['image/gif', 0, [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', 8, [0x57, 0x45, 0x42, 0x50]],
  ['image/avif', 4, [0x66, 0x74, 0x79, 0x70, 0x61, 0x76, 0x69, 0x66]],
]

/** Returns the type that an image's content has, whatever its file claims; undefined for anything else. */
export const imageType = (content: Uint8Array): string | undefined =>
  SIGNATURES.find(([, at, bytes]) => bytes.every((byte, i) => content[at + i] === byte))?.[0]

/** Reads a response up to a number of bytes. The rest isn't transferred. */
export const readBytes = async (response: Response, most: number): Promise<{ bytes: Uint8Array; cut: boolean }> => {
  const reader = response.body?.getReader()
  const parts: Uint8Array[] = []
  let size = 0
  for (let cut = false; reader; ) {
    const { value, done } = await reader.read()
    if (value) {
      parts.push(value)
      size += value.byteLength
      cut = size > most
    }
    if (!done && !cut) continue
    if (cut) await reader.cancel()
    const bytes = new Uint8Array(size)
    let at = 0
    for (const part of parts) {
      bytes.set(part, at)
      at += part.byteLength
    }
    return { bytes: bytes.subarray(0, most), cut }
  }
  return { bytes: new Uint8Array(), cut: false }
}

/** Decodes text; undefined if the content isn't UTF-8. A character that the end cuts in two is left out. */
export const decodeText = (bytes: Uint8Array, cut: boolean): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
  } catch {
    return undefined
  }
}
