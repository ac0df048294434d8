/**
 * Reads an image's width and height from its first bytes, without decoding it. A small file can hold an image that takes
 * gigabytes of memory.
 *
 * @returns undefined if its header doesn’t say
 */
export const pixelsOf = (type: string, content: Uint8Array): number | undefined => {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength)
  try {
    if (type === 'image/png') return view.getUint32(16) * view.getUint32(20)
    if (type === 'image/gif') return view.getUint16(6, true) * view.getUint16(8, true)
    if (type === 'image/webp') return webpPixels(view)
    if (type === 'image/jpeg') return jpegPixels(view)
  } catch {
    // The content ends before the size.
  }
  return undefined
}

/** The three forms of WebP (developers.google.com/speed/webp/docs/riff_container). */
const webpPixels = (view: DataView): number | undefined => {
  const form = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)))
  const uint24 = (at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
  if (form === 'VP8X') return (uint24(24) + 1) * (uint24(27) + 1)
  if (form === 'VP8 ') return (view.getUint16(26, true) & 0x3fff) * (view.getUint16(28, true) & 0x3fff)
  if (form !== 'VP8L') return undefined
  const packed = view.getUint32(21, true)
  return ((packed & 0x3fff) + 1) * (((packed >>> 14) & 0x3fff) + 1)
}

/** Reads the frame header: SOF0 to SOF15, except the three codes that aren’t frame headers (ITU-T T.81, B.2.2). */
const jpegPixels = (view: DataView): number | undefined => {
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) at++
    else if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return view.getUint16(at + 5) * view.getUint16(at + 7)
    else at += 2 + view.getUint16(at + 2)
  }
  return undefined
}
