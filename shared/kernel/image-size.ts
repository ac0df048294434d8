export interface ImageSize {
  format: 'png' | 'jpeg' | 'gif' | 'webp'
  width: number
  height: number
}

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', from, to)

/**
 * Reads an image's format and size from its first bytes. Returns undefined if they are not a supported image or end too
 * early.
 */
export const readImageSize = (bytes: Uint8Array): ImageSize | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    if (ascii(bytes, 0, 8) === '\x89PNG\r\n\x1a\n' && ascii(bytes, 12, 16) === 'IHDR') {
      return { format: 'png', width: view.getUint32(16), height: view.getUint32(20) }
    }
    if (/^GIF8[79]a$/.test(ascii(bytes, 0, 6))) {
      return { format: 'gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
    }
    if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP') return webp(bytes, view)
    if (view.getUint16(0) === 0xffd8) return jpeg(view)
  } catch {
    // The bytes end before the size.
  }
  return undefined
}

/** The three forms of WebP (developers.google.com/speed/webp/docs/riff_container). */
const webp = (bytes: Uint8Array, view: DataView): ImageSize | undefined => {
  const form = ascii(bytes, 12, 16)
  const uint24 = (at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
  if (form === 'VP8X') return { format: 'webp', width: uint24(24) + 1, height: uint24(27) + 1 }
  if (form === 'VP8L') {
    const packed = view.getUint32(21, true)
    return { format: 'webp', width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
  }
  if (form === 'VP8 ') {
    return { format: 'webp', width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  }
  return undefined
}

/** Reads the frame header: SOF0 to SOF15, except the three codes that aren't frame headers (ITU-T T.81, B.2.2). */
const jpeg = (view: DataView): ImageSize | undefined => {
  for (let at = 2; at < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at += 1
      continue
    }
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { format: 'jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    }
    at += 2 + view.getUint16(at + 2)
  }
  return undefined
}
