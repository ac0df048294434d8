import * as z from 'zod'
import { fail, type PlatformError } from '../kernel/errors.ts'

/** Returns what is wrong with each field: path → list of sentences (contract/general.md#bodies). */
const fieldErrors = (error: z.ZodError): Record<string, string[]> => {
  const fields: Record<string, string[]> = Object.create(null)
  const add = (path: PropertyKey[], text: string): void => {
    const name = path.map(String).join('.') || 'body'
    fields[name] = [...(fields[name] ?? []), text]
  }
  const walk = (issues: readonly z.core.$ZodIssue[], base: PropertyKey[]): void => {
    for (const issue of issues.slice(0, 100)) {
      const path = [...base, ...issue.path]
      if (issue.code === 'unrecognized_keys')
        for (const key of issue.keys.slice(0, 50)) add([...path, key], 'unknown field')
      else if (issue.code === 'invalid_union' && issue.errors.length > 0) {
        // The union branch with the fewest issues explains most.
        const nearest = [...issue.errors].sort((a, b) => a.length - b.length)[0] ?? []
        walk(nearest, path)
      } else add(path, issue.message)
    }
  }
  walk(error.issues, [])
  return { ...fields }
}

/**
 * Validates a value against a schema.
 * @throws `validation_error` naming every invalid field
 */
export const check = <T>(schema: z.ZodType<T>, value: unknown, what = 'The request'): T => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw fail('validation_error', {
    message: `${what} has invalid fields.`,
    details: { fields: fieldErrors(result.error) },
  })
}

/** Validates the arguments of a tool. @throws `validation_error` naming every invalid one, below `arguments` */
export const checkArguments = (schema: z.ZodType<Record<string, unknown>>, value: unknown): Record<string, unknown> =>
  check(z.object({ arguments: schema }), { arguments: value }, 'The tool’s arguments').arguments

const mediaType = (contentType: string | undefined): string =>
  (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''

/** Parses a JSON body. An empty one counts as `{}`, because a POST without declared fields accepts either. */
export const parseJson = (raw: string, contentType: string | undefined): unknown => {
  if (raw.trim() === '') return {}
  const type = mediaType(contentType)
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw fail('unsupported_media_type', {
      message: `The body must be application/json${type ? `, not ${type.slice(0, 80)}` : ', but the Content-Type header is missing'}.`,
      fix: 'Send Content-Type: application/json.',
    })
  }
  try {
    return JSON.parse(raw)
  } catch {
    throw fail('bad_request', { message: 'The body is not valid JSON.', fix: 'Send valid JSON (RFC 8259).' })
  }
}

/** Parses an OAuth form body. A repeated parameter is `invalid_request` (RFC 6749 §3.2). */
export const parseForm = (raw: string, contentType: string | undefined): Record<string, string> => {
  const type = mediaType(contentType)
  if (type !== 'application/x-www-form-urlencoded') {
    throw fail('unsupported_media_type', {
      message: 'The body must be application/x-www-form-urlencoded.',
      fix: 'Send form parameters with Content-Type: application/x-www-form-urlencoded (or send JSON to /oauth/token.json).',
    })
  }
  return uniqueParameters([...new URLSearchParams(raw)])
}

/**
 * Parses OAuth parameters as JSON. A repeated parameter is `invalid_request`, as in a form. `JSON.parse` alone would
 * keep the last value.
 */
export const parseParameters = (raw: string, contentType: string | undefined): unknown => {
  const value = parseJson(raw, contentType)
  const seen = new Set<string>()
  let depth = 0
  // The text is valid JSON, so braces and brackets outside strings nest, and a string before a colon is a name.
  for (const [token, text, colon] of raw.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    if (text === undefined) depth += token === '{' || token === '[' ? 1 : -1
    else if (colon !== undefined && depth === 1) {
      const name = JSON.parse(text) as string
      if (seen.has(name)) throw repeated(name)
      seen.add(name)
    }
  }
  return value
}

const repeated = (name: string): PlatformError =>
  fail('invalid_request', {
    message: `The parameter ${name.slice(0, 60)} was sent more than once.`,
    fix: 'Send each parameter once.',
  })

interface Parameters {
  /** Values by name: the first of a repeated parameter, and all addresses of `resource`, separated by spaces. */
  parameters: Record<string, string>
  /** Errors by the names of repeated parameters. */
  repeated: Map<string, PlatformError>
}

/** Reads OAuth parameters. Only `resource` may repeat (RFC 8707 §2). An address has no spaces, so they separate several. */
export const readParameters = (pairs: [string, string][]): Parameters => {
  const found: Record<string, string> = Object.create(null)
  const repeats = new Map<string, PlatformError>()
  for (const [name, value] of pairs) {
    const before = found[name]
    if (name === 'resource') found[name] = before && value ? `${before} ${value}` : before || value
    else if (before === undefined) found[name] = value
    else repeats.set(name, repeated(name))
  }
  return { parameters: { ...found }, repeated: repeats }
}

/**
 * Returns OAuth parameters by name, as {@link readParameters} does.
 * @throws `invalid_request` for a repeated parameter
 */
export const uniqueParameters = (pairs: [string, string][]): Record<string, string> => {
  const { parameters, repeated: repeats } = readParameters(pairs)
  for (const error of repeats.values()) throw error
  return parameters
}

/**
 * Returns query parameters for validation.
 * @throws `validation_error` for a repeated parameter
 */
export const parseQuery = (pairs: [string, string][]): Record<string, string> => {
  const seen = new Set<string>()
  for (const [name] of pairs) {
    if (seen.has(name)) {
      throw fail('validation_error', {
        message: 'A query parameter was sent more than once.',
        details: { fields: { [name]: ['sent more than once'] } },
      })
    }
    seen.add(name)
  }
  return Object.fromEntries(pairs)
}
