import { uriEncode } from './bucket.ts'

/**
 * `Content-Disposition` that has a browser save instead of show (RFC 6266): the name in ASCII for old clients, and as it is in
 * the extended notation (RFC 8187), which counts wherever it is understood.
 */
export const attachment = (filename: string): string => {
  // A percent sign in the plain form is decoded by some browsers and kept by others.
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/gu, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${uriEncode(filename)}`
}
