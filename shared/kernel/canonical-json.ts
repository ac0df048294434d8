import canonicalize from 'canonicalize'
import { fail } from './errors.ts'

/**
 * The canonical text of a JSON value (RFC 8785): equal values give equal text whatever the order of their keys, so its
 * hash can stand for the value. Takes any depth.
 *
 * @throws PlatformError `validation_error` on what RFC 8785 §3.2.2.2 forbids: a string with half a surrogate pair.
 * JSON lets a client send one as `"\ud800"`, so this is their error, not ours.
 */
export const canonicalJson = (value: unknown): string => {
  let text: string | undefined
  try {
    text = canonicalize(value)
  } catch (cause) {
    throw fail('validation_error', {
      message: 'A text in the request holds half of a surrogate pair, so it is not valid Unicode.',
      fix: 'Send well-formed Unicode: both halves of a surrogate pair, or neither.',
      cause,
    })
  }
  if (text === undefined) throw new TypeError('not a JSON value')
  return text
}
