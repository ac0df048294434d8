import canonicalize from 'canonicalize'
import { fail } from './errors.ts'

/**
 * Returns the canonical text of a JSON value (RFC 8785). Equal values give equal text regardless of key order, so the
 * text can be hashed and compared. Accepts any depth.
 *
 * @throws PlatformError `validation_error` for a string with an unpaired surrogate, which RFC 8785 §3.2.2.2 forbids.
 * JSON lets a client send one as `"\ud800"`, so this is a client error.
 */
export const canonicalJson = (value: unknown): string => {
  let text: string | undefined
  try {
    text = canonicalize(value)
  } catch (cause) {
    throw fail('validation_error', {
      message: 'A string in the request contains an unpaired surrogate, so it is not valid Unicode.',
      fix: 'Send well-formed Unicode: both halves of a surrogate pair, or neither.',
      cause,
    })
  }
  if (text === undefined) throw new TypeError('not a JSON value')
  return text
}
