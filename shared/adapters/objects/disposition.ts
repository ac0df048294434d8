import { uriEncode } from './bucket.ts'

/**
 * Returns a `Content-Disposition` that makes a browser save the file or show it (RFC 6266). It contains the
 * name in ASCII for old clients, and the exact name in the extended notation (RFC 8187), which takes precedence.
 */
export const disposition = (kind: 'attachment' | 'inline', filename: string): string => {
  // Some browsers decode a percent sign in the plain form, others keep it.
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/gu, '_')
  return `${kind}; filename="${plain}"; filename*=UTF-8''${uriEncode(filename)}`
}
